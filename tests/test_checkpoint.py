"""Where an interrupted trial stood: its workspace, its steps, and what it had used up."""

import json
import os
from pathlib import Path

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.checkpoint import CannotGoOn, read_checkpoint, restore
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.exceptions import LimitReached
from pytest_mlab.history import read_history
from pytest_mlab.llm.record import FILE as CALLS
from pytest_mlab.results import Usage
from pytest_mlab.runs import HISTORY, TRACE, WORKSPACE
from pytest_mlab.task import Task
from pytest_mlab.trace import read_trace
from pytest_mlab.workspace import Workspace
from pytest_mlab.world import Setup, open_environment
from tests.folders import load
from tests.worlds import make_setup


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with public data."""
    return load(tmp_path)


def interrupt(folder: Path, task: Task) -> Setup:
    """Leave a trial behind that was killed after four steps, with more in its workspace since."""
    setup = make_setup(folder, task)
    with open_environment(setup, ACTIONS) as environment:
        environment.start()
        root = setup.workspace.root
        (root / "model.bin").write_bytes(b"m" * 2_000_000)
        (root / "empty").mkdir()
        (root / "link").symlink_to("train.py")
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: nowhere\n")
        (root / "run.sh").write_text("true\n")
        (root / "run.sh").chmod(0o755)
        environment.note(thought="first")
        environment.act("Write File", file_name="a.txt", content="a")
        environment.act("Execute Script", script_name="train.py")
        environment.act("No Such Action")
        environment.note(thought="last")
        environment.act("Write File", file_name="a.txt", content="b")
        environment.note(thought="of a step that was not to be")
        (root / "a.txt").write_text("c")
        (root / "later.txt").write_text("later")
    return setup


def go_on(folder: Path, earlier: Setup, limits: Limits | None = None) -> Setup:
    """Bring another trial to where the earlier one stood."""
    checkpoint = read_checkpoint(earlier.folder)
    setup = make_setup(folder, earlier.task, limits, past=checkpoint)
    restore(checkpoint, setup.workspace.root, setup.folder)
    return setup


def test_the_workspace_is_as_the_last_step_left_it(tmp_path: Path, task: Task) -> None:
    root = go_on(tmp_path / "two", interrupt(tmp_path / "one", task)).workspace.root
    assert (root / "a.txt").read_text() == "b"
    assert not (root / "later.txt").exists()
    assert (root / "model.bin").read_bytes() == b"m" * 2_000_000
    assert (root / "empty").is_dir()
    assert (root / "link").readlink() == Path("train.py")
    assert (root / ".git" / "HEAD").read_text() == "ref: nowhere\n"
    assert os.access(root / "run.sh", os.X_OK)
    assert (root / "data" / "train.csv").exists()


def test_public_data_are_those_of_now(tmp_path: Path, task: Task) -> None:
    """The cache may have moved since."""
    earlier = interrupt(tmp_path / "one", task)
    public = tmp_path / "elsewhere"
    public.mkdir()
    (public / "train.csv").write_text("here")
    workspace = Workspace.create(task, public, tmp_path / "two" / WORKSPACE)
    restore(read_checkpoint(earlier.folder), workspace.root, tmp_path / "two")
    assert (workspace.root / "data" / "train.csv").read_text() == "here"


def test_the_agent_finds_its_steps_and_what_is_left(tmp_path: Path, task: Task) -> None:
    setup = go_on(tmp_path / "two", interrupt(tmp_path / "one", task), Limits(60, 5))
    with open_environment(setup, ACTIONS) as environment:
        environment.start()
        assert [step.action for step in environment.steps] == [
            *("Write File", "Execute Script", "No Such Action", "Write File")
        ]
        assert [step.notes for step in environment.steps][::3] == [
            {"thought": "first"},
            {"thought": "last"},
        ]
        assert "validation accuracy" in environment.steps[1].observation.text
        assert not environment.steps[2].observation.ok
        assert environment.charged == 4
        assert 0 < environment.seconds < 60
        environment.act("Execute Script", script_name="train.py")
        with pytest.raises(LimitReached):
            environment.act("List Files", dir_path=".")
    assert sorted(path.name for path in (setup.folder / "outputs").iterdir()) == [
        "0001.txt",
        "0002.txt",
    ]


def test_its_records_go_on_where_they_ended(tmp_path: Path, task: Task) -> None:
    earlier = interrupt(tmp_path / "one", task)
    before = len(read_history(earlier.folder / HISTORY))
    setup = go_on(tmp_path / "two", earlier)
    with open_environment(setup, ACTIONS) as environment:
        environment.start()
        environment.act("List Files", dir_path=".")
    events = [event["event"] for event in read_trace(setup.folder / TRACE)]
    assert events == ["start", "note", *["step"] * 3, "note", "step", "resume", "step"]
    assert len(read_history(setup.folder / HISTORY)) == before + 1
    assert read_history(setup.folder / HISTORY)[-1].message.startswith("step 5: List Files")


def test_what_was_paid_for_counts_also_after_the_last_step(tmp_path: Path, task: Task) -> None:
    earlier = interrupt(tmp_path / "one", task)
    call = {"call": 1, "reply": {"text": "", "usage": {"input_tokens": 7, "cost_usd": 0.5}}}
    (earlier.folder / CALLS).write_text(f'{{"format": "x"}}\n{json.dumps(call)}\n{{"call": 2, "re')
    checkpoint = read_checkpoint(earlier.folder)
    assert checkpoint.usage == Usage(input_tokens=7, cost_usd=0.5)
    setup = go_on(tmp_path / "two", earlier)
    assert (setup.folder / CALLS).read_text().endswith("}\n")


@pytest.mark.parametrize("change", ["changed", "removed", "linked"])
def test_a_large_file_that_was_changed_since_cannot_be_had_back(
    tmp_path: Path, task: Task, change: str
) -> None:
    earlier = interrupt(tmp_path / "one", task)
    model = earlier.workspace.root / "model.bin"
    content = model.read_bytes()
    model.unlink()
    if change == "changed":
        model.write_bytes(b"n" * len(content))
    elif change == "linked":
        (tmp_path / "aside").write_bytes(content)
        model.symlink_to(tmp_path / "aside")
    with pytest.raises(CannotGoOn, match=r"model\.bin is not any more what it was"):
        go_on(tmp_path / "two", earlier)


def test_a_trial_without_a_whole_step_cannot_go_on(tmp_path: Path, task: Task) -> None:
    setup = make_setup(tmp_path / "one", task)
    with open_environment(setup, ACTIONS):
        pass
    with pytest.raises(CannotGoOn, match="it made no whole step"):
        read_checkpoint(setup.folder)


def test_an_environment_without_a_past_begins_at_nothing(tmp_path: Path, task: Task) -> None:
    setup = make_setup(tmp_path / "one", task)
    with open_environment(setup, ACTIONS) as environment:
        assert isinstance(environment, Environment)
        assert (environment.steps, environment.charged, environment.seconds) == ((), 0, 0.0)
