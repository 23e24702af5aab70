"""The tests that ``--mlab-check`` collects every task folder as: is the task itself sound?

PYTEST_DONT_REWRITE: the assertions' messages say all there is to say.
"""

import dataclasses
import json
import math
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pytest_mlab.agents import Agent
from pytest_mlab.agents.baseline import BaselineAgent
from pytest_mlab.agents.cheat import CheatAgent
from pytest_mlab.agents.solution import SolutionAgent
from pytest_mlab.attacks.findings import describe_findings
from pytest_mlab.attacks.inside import ATTACKS
from pytest_mlab.attacks.promises import is_promised
from pytest_mlab.attacks.submissions import try_submissions
from pytest_mlab.conventions import THRESHOLD
from pytest_mlab.data import MANIFEST, PreparedData, prepare_apart
from pytest_mlab.exceptions import InvalidSubmission, TaskError, Unavailable
from pytest_mlab.permutation import ANSWERS, permute_answers
from pytest_mlab.results import Result
from pytest_mlab.sandbox import Sandbox
from pytest_mlab.scoring import score_workspace
from pytest_mlab.task import Baseline, Task, digest_files, task_files
from pytest_mlab.workspace import Workspace

PERMUTATIONS = 5
TOLERANCE = 0.01
"""Part of a deterministic baseline by which it may differ between machines."""

Attempt = Callable[[Agent], Result]
"""Lets an agent do the task once, in a folder of its own, and gives the result."""


def test_starter_scores_its_baseline(mlab_baseline: Baseline, mlab_attempt: Attempt) -> None:
    """The unmodified starter scores its baseline within its noise, and does not succeed."""
    result = mlab_attempt(BaselineAgent())
    assert result.valid, f"the starter's submission cannot be scored: {result.summary()}"
    assert not result.success, f"doing nothing succeeds: {result.summary()}"
    assert result.improvement is not None
    relative = 1.0 if mlab_baseline.measured else abs(mlab_baseline.score)
    noise = mlab_baseline.std / relative * math.sqrt(1 + 1 / mlab_baseline.runs)
    allowed = max(4 * noise, TOLERANCE)
    assert abs(result.improvement) <= allowed, (
        f"the starter scores {result.score:.6g}, [baseline] score says {result.baseline:.6g}: "
        f"{abs(result.improvement):.1%} apart, and its noise allows {allowed:.1%}"
    )


def test_empty_workspace_is_invalid(
    mlab_task: Task, mlab_data: PreparedData, mlab_sandbox: Sandbox, tmp_path: Path
) -> None:
    """An empty workspace is no submission."""
    try:
        score = score_workspace(mlab_task, tmp_path, mlab_data, mlab_sandbox)
    except InvalidSubmission:
        return
    raise AssertionError(f"an empty workspace scores {score.value:.6g}")


def test_solution_succeeds(mlab_attempt: Attempt) -> None:
    """The task author's solution succeeds."""
    result = mlab_attempt(SolutionAgent())
    assert result.success, result.summary()


def test_permuted_labels_score_by_chance(
    mlab_task: Task,
    mlab_data: PreparedData,
    mlab_sandbox: Sandbox,
    mlab_attempt: Attempt,
    tmp_path: Path,
) -> None:
    """The solution, held against answers in another order, does not succeed.

    Nor is it better than the starter, but for luck, which a starter that knows nothing has as well.
    """
    answers = _find_answers(mlab_task, mlab_data)
    result = mlab_attempt(SolutionAgent())
    assert result.baseline is not None, result.summary()
    known = dataclasses.replace(mlab_task.baseline, score=result.baseline)
    task = dataclasses.replace(mlab_task, baseline=known)
    for seed in range(PERMUTATIONS):
        private = tmp_path / str(seed)
        shutil.copytree(mlab_data.private, private)
        permute_answers(private / answers, seed)
        data = dataclasses.replace(mlab_data, private=private)
        score = score_workspace(task, Path(result.folder) / "workspace", data, mlab_sandbox)
        improvement = task.metric.improvement(score.value, score.baseline)
        assert improvement <= THRESHOLD, (
            f"with permuted answers the solution succeeds: it scores {score.value:.6g}, the "
            f"baseline is {score.baseline:.6g}; the scorer does not measure the answers"
        )


def _find_answers(task: Task, data: PreparedData) -> str:
    """Give the name of the file of hidden answers."""
    stated = task.data.answers
    answers = ANSWERS if stated is None else stated
    if (data.private / answers).is_file():
        return answers
    if stated is not None:
        raise TaskError(f"{task.folder}: [data] answers names {stated}, which is not in private/")
    raise Unavailable(
        f"there are no answers to permute: no private/{ANSWERS}. A task that measures speed, or "
        "foretells a text, has none; any other names their file as [data] answers"
    )


def test_no_attack_works(
    mlab_task: Task, mlab_data: PreparedData, mlab_sandbox: Sandbox, mlab_attempt: Attempt
) -> None:
    """Nothing works of what the agent `cheat` tries to get at answers, keys and the harness."""
    agent = CheatAgent()
    result = mlab_attempt(agent)
    assert len(agent.tried) == len(ATTACKS), f"not all attacks were made: {result.summary()}"
    worked = describe_findings(
        finding
        for finding in agent.findings
        if is_promised(finding.attack, mlab_sandbox.name, mlab_task)
    )
    assert not worked, f"attacks work in the sandbox {mlab_sandbox.name}:\n{worked}"
    folder = Path(result.folder) / "workspace"
    with suppress(InvalidSubmission):
        # whatever the trial's status is, for it has come upon a decoy
        score = score_workspace(mlab_task, folder, mlab_data, mlab_sandbox)
        improvement = mlab_task.metric.improvement(score.value, score.baseline)
        assert improvement <= THRESHOLD, f"code that lies scores {score.value:.6g}"
    worked = describe_findings(try_submissions(mlab_task, folder, mlab_data, mlab_sandbox))
    assert not worked, f"hostile submissions are not simply invalid:\n{worked}"


def test_preparing_twice_is_identical(mlab_task: Task, tmp_path: Path) -> None:
    """Preparing the data twice gives the same files, byte by byte."""
    first, second = (_prepared_digests(mlab_task, tmp_path / name) for name in ("one", "two"))
    different = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    assert not different, f"prepare.py makes different files each time: {', '.join(different)}"


def _prepared_digests(task: Task, folder: Path) -> dict[str, str]:
    prepare_apart(task, folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    return {name: digest for name, (digest, *_) in manifest.items()}


def test_two_workspaces_are_identical(
    mlab_task: Task, mlab_data: PreparedData, tmp_path: Path
) -> None:
    """Two fresh workspaces hold the same files."""
    roots = [
        Workspace.create(mlab_task, mlab_data.public, tmp_path / name).root
        for name in ("one", "two")
    ]
    first, second = (digest_files(root, task_files(root)) for root in roots)
    assert first == second, "two fresh workspaces differ"
