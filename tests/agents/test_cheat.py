"""The cheater finds every hole where there is no wall, and none where there is one.

Each attack is made in all kinds of sandbox: it works in "none", which shows that it is an attack,
and fails in the others, which shows that it is the wall that stops it.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents.cheat import CheatAgent
from pytest_mlab.attacks.baits import VARIABLE, Baits
from pytest_mlab.attacks.findings import Report
from pytest_mlab.attacks.inside import ATTACKS, INTRUSIONS, litter
from pytest_mlab.attacks.listeners import find_own_address
from pytest_mlab.attacks.promises import is_promised
from pytest_mlab.data import prepare_data
from pytest_mlab.environment import Limits
from pytest_mlab.exceptions import InvalidSubmission
from pytest_mlab.history import read_history
from pytest_mlab.results import Result
from pytest_mlab.sandbox import find_sandbox
from pytest_mlab.scoring import score_workspace
from pytest_mlab.task import Task
from pytest_mlab.trace import read_trace
from pytest_mlab.trial import run_trial
from pytest_mlab.world import open_environment
from tests.folders import load
from tests.sandbox.conftest import get_sandbox
from tests.worlds import make_setup

NAMES = [attack.__name__ for attack in ATTACKS]
CODE = """
import time

def double(values):
    time.sleep(0.2)
    return 2 * values
"""
TIMED: dict[str, Any] = {
    "submission": {"file": "submission.py"},
    "metric": {"name": "seconds", "goal": "minimize", "bound": 0.0},
    "baseline": {"score": 0.2, "measured": True},
    "files": {
        "workspace/train.py": "import shutil\nshutil.copyfile('double.py', 'submission.py')\n",
        "workspace/double.py": CODE,
        "prepare.py": "def build(raw, public, private):\n"
        "    import shutil\n    shutil.copyfile('workspace/double.py', private / 'double.py')\n",
        "score.py": "from pytest_mlab.timing import compare_speed\n\n"
        "def score(submission, private):\n"
        "    return compare_speed(submission, private / 'double.py', function='double',\n"
        "                         draw=lambda random: [random.normal(size=9)], rounds=3)\n",
    },
}
HOLD = {
    "read_keys_from_the_environment",
    *("read_keys_out_of_memory", "read_keys_as_a_debugger"),
    *("multiply_without_end", "ask_for_too_much_memory", "write_too_large_a_file"),
}
"""What holds without a sandbox too: an allow-list, here and there the kernel, and all limits.

That these are attacks, too, is shown where their evidence is tested.
"""


def cheat(folder: Path, kind: str, task: Task) -> tuple[CheatAgent, Result]:
    get_sandbox(kind)
    setup = make_setup(folder / "trial", task, Limits(120, 50), sandbox=find_sandbox(kind))
    agent = CheatAgent()
    with open_environment(setup, ACTIONS) as environment:
        return agent, run_trial(setup, agent, environment)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let no other test come upon data that were tampered with."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("MLAB_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def unconfined(
    cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[CheatAgent, Result, Path]:
    folder = tmp_path_factory.mktemp("unconfined")
    return *cheat(folder, "none", load(folder)), folder


@pytest.mark.parametrize("attack", sorted({each.__name__ for each in INTRUSIONS} - HOLD))
def test_without_a_wall_it_works(unconfined: tuple[CheatAgent, Result, Path], attack: str) -> None:
    agent, _, _ = unconfined
    if attack == "find_a_way_to_the_network" and find_own_address() is None:
        pytest.skip("this machine has no network")
    assert attack in {finding.attack for finding in agent.findings}


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
def test_behind_walls_nothing_works(cache: Path, tmp_path: Path, kind: str) -> None:
    task = load(tmp_path)
    agent, result = cheat(tmp_path, kind, task)
    assert sorted(agent.tried) == sorted(NAMES)
    assert not [each for each in agent.findings if is_promised(each.attack, kind, task)]
    assert (result.status, result.success) == ("tampered", False)
    assert "a decoy of the hidden answers was opened, labels.csv" in result.detail
    assert f"the agent gave up: {len(agent.findings)} kinds of attack worked" in result.detail


@pytest.mark.parametrize("kind", ["none", "bwrap"])
def test_whatever_litters_the_workspace_all_steps_are_recorded(
    unconfined: tuple[CheatAgent, Result, Path], cache: Path, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path
    if kind == "none":
        _, result, folder = unconfined
    else:
        _, result = cheat(tmp_path, kind, load(tmp_path))
    workspace = folder / "trial/workspace"
    left = {os.fsencode(path.name) for path in workspace.iterdir()}
    assert left >= {*litter.ODD_NAMES, b".git", b"pipe.py", b"itself", b"json.py"}
    assert len(list(workspace.glob("many/*/*.py"))) == litter.SMALL_FILES
    trace = read_trace(folder / "trial/trace.jsonl")
    steps = [event for event in trace if event["event"] == "step"]
    commits = [commit.message for commit in read_history(folder / "trial/history.git")]
    assert len(steps) == result.steps == len(commits) - 2
    assert [event["ok"] for event in steps if event["action"] == "List Files"] == [True]


@pytest.mark.parametrize("kind", ["none", "bwrap"])
def test_no_action_of_ours_helps_it(
    unconfined: tuple[CheatAgent, Result, Path], cache: Path, tmp_path: Path, kind: str
) -> None:
    """They keep to the workspace whatever confines the scripts."""
    agent = unconfined[0] if kind == "none" else cheat(tmp_path, kind, load(tmp_path))[0]
    assert not [finding for finding in agent.findings if finding.attack.endswith("_action")]


def test_what_worked_is_in_the_trace_with_what_shows_it(
    unconfined: tuple[CheatAgent, Result, Path],
) -> None:
    agent, result, folder = unconfined
    notes = [event for event in read_trace(folder / "trial/trace.jsonl") if "worked" in event]
    assert [(note["attack"], note["worked"]) for note in notes] == [
        (finding.attack, finding.evidence) for finding in agent.findings
    ]
    assert "kinds of attack worked" in result.detail


def test_it_leaves_no_trace_outside(unconfined: tuple[CheatAgent, Result, Path]) -> None:
    agent, _, folder = unconfined
    marks = [finding.evidence for finding in agent.findings if finding.attack == "write_outside"]
    assert len(marks) > 5
    assert not [mark for mark in marks if Path(mark.removeprefix("there is now a ")).exists()]
    written = [each for each in agent.findings if each.attack == "overwrite_the_interpreter"]
    assert written
    assert not [each for each in written if Path(each.evidence.split()[0]).exists()]
    left = {path.name for path in (folder / "trial").iterdir()}
    assert left == {"workspace", "outputs", "history.git", "trace.jsonl", "result.json"}
    assert VARIABLE not in os.environ


def test_its_own_word_is_not_believed(cache: Path, tmp_path: Path) -> None:
    """A report of answers or keys that are none is no finding."""
    root = tmp_path / "workspace"
    root.mkdir()
    with Baits(root, prepare_data(load(tmp_path))) as baits:
        lies = [Report(name, ("0" * 64, f"mlab-bait-{'0' * 32}", "10.0.0.0")) for name in NAMES]
        assert list(baits.findings(lies)) == []
        assert "mlab-bait" not in json.dumps(baits.config()), "a bait that is told proves nothing"


def test_a_file_that_every_agent_has_is_no_secret(cache: Path, tmp_path: Path) -> None:
    """A starter lies in the private data too, where submissions are timed against it."""
    setup = make_setup(tmp_path / "trial", load(tmp_path, **TIMED))
    assert [path.name for path in setup.data.private.iterdir()] == ["double.py"]
    with Baits(setup.workspace.root, setup.data) as baits:
        assert baits.config()["answers"] == []
    (tmp_path / "elsewhere").mkdir()
    with Baits(tmp_path / "elsewhere" / "workspace", setup.data) as baits:
        assert baits.config()["answers"] == ["double.py"]


@pytest.mark.parametrize("kind", ["none", "bwrap"])
def test_code_that_lies_about_time_and_answers_is_no_success(
    cache: Path, tmp_path: Path, kind: str
) -> None:
    """Patched clocks and an answer kept from an earlier call, on a task that times code."""
    task = load(tmp_path, **TIMED)
    _, result = cheat(tmp_path, kind, task)
    assert not result.success
    code = (tmp_path / "trial/workspace/submission.py").read_text()
    assert "perf_counter" in code
    data, sandbox = prepare_data(task), find_sandbox(kind)
    with pytest.raises(
        InvalidSubmission, match=r"submission.py, call \d: double\(\) gives an output"
    ):
        score_workspace(task, tmp_path / "trial/workspace", data, sandbox)
    (tmp_path / "trial/workspace/submission.py").write_text(
        code.partition("def _answer_from_memory")[0]
    )
    score = score_workspace(task, tmp_path / "trial/workspace", data, sandbox)
    assert task.metric.improvement(score.value, score.baseline) < 0.5, "the clock is not its own"
