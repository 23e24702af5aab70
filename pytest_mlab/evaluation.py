"""Scoring the submissions that a trial had on its way, once it is over.

The agent never sees these scores, and they decide nothing: success is the final submission's.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pytest_mlab.curves import StepScore
from pytest_mlab.data import PreparedData
from pytest_mlab.exceptions import InvalidSubmission, MlabError
from pytest_mlab.history import Commit, Reader, read_history
from pytest_mlab.sandbox import Sandbox
from pytest_mlab.scoring import Score, score_workspace
from pytest_mlab.snapshot import FILE, MARK, PROGRAM
from pytest_mlab.task import Task

_STEP = re.compile(r"step (\d+):")


def whole_submission(task: Task) -> dict[str, int]:
    """Give what a history has to record whole for its submissions to be scored later."""
    return {task.submission.file: int(task.submission.max_mb * 1e6)}


def score_history(
    history: Path, task: Task, data: PreparedData, sandbox: Sandbox
) -> list[StepScore]:
    """Score each submission that differs from the step's before; equal ones are scored once.

    A submission that the starter came with is none of the agent's. What goes wrong with a scorer
    here is in ``detail``: it has no say in what became of the trial.
    """
    reader = Reader(history)
    scores: list[StepScore] = []
    known: dict[str, tuple[Score | None, str]] = {}
    best: float | None = None
    for number, commit, content in _submissions(reader, read_history(history), task):
        if content not in known:
            known[content] = _score(reader.read(content), task, data, sandbox)
        score, detail = known[content]
        if score is not None:
            better = max if task.metric.goal == "maximize" else min
            best = score.value if best is None else better(best, score.value)
        scores.append(
            StepScore(
                step=number,
                commit=commit.id,
                score=None if score is None else score.value,
                baseline=None if score is None else score.baseline,
                improvement=(
                    None if score is None else task.metric.improvement(score.value, score.baseline)
                ),
                best=best,
                detail=detail,
            )
        )
    return scores


def _submissions(
    reader: Reader, commits: list[Commit], task: Task
) -> Iterator[tuple[int, Commit, str]]:
    """Give step, commit and content of each submission that is another than the one before."""
    number = 0
    given: str | None = None
    last: str | None = None
    for commit in commits:
        found = reader.find(commit.tree, task.submission.file)
        content = found[1] if found is not None and found[0] in (FILE, PROGRAM) else None
        step = _STEP.match(commit.message)
        if commit is commits[0] and step is None:
            given = last = content
        number = int(step[1]) if step else number
        if content is not None and content not in (last, given):
            yield number, commit, content
        last = content


def _score(
    content: bytes, task: Task, data: PreparedData, sandbox: Sandbox
) -> tuple[Score | None, str]:
    if content.startswith(MARK):
        return None, f"larger than {task.submission.max_mb:g} MB"
    with tempfile.TemporaryDirectory(prefix="mlab-step-") as name:
        submission = Path(name) / task.submission.file
        submission.parent.mkdir(parents=True, exist_ok=True)
        submission.write_bytes(content)
        try:
            return score_workspace(task, Path(name), data, sandbox), ""
        except (InvalidSubmission, MlabError) as error:
            return None, str(error)
