"""Environments of real trials, opened by tests."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_mlab.actions import ACTIONS, Action
from pytest_mlab.conventions import THRESHOLD
from pytest_mlab.data import prepare_data
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.results import Identity
from pytest_mlab.runs import WORKSPACE
from pytest_mlab.sandbox import find_sandbox
from pytest_mlab.task import Task
from pytest_mlab.workspace import Workspace
from pytest_mlab.world import Setup, open_environment
from tests.folders import load


def make_setup(
    folder: Path, task: Task, limits: Limits | None = None, *, seed: int = 0, **changes: Any
) -> Setup:
    """Put together a trial that is recorded in ``folder``, unconfined for speed."""
    folder.mkdir(parents=True, exist_ok=True)
    data = prepare_data(task)
    values: dict[str, Any] = {
        "identity": Identity(
            task=task.name,
            agent="agent",
            llm=None,
            trial=1,
            nodeid="tasks/threshold/task.toml::test_beats_baseline[1]",
            task_digest=task.digest,
            seed=seed,
        ),
        "task": task,
        "data": data,
        "workspace": Workspace.create(task, data.public, folder / WORKSPACE),
        "sandbox": find_sandbox("none"),
        "limits": limits or Limits(task.limits.seconds, task.limits.steps),
        "threshold": THRESHOLD,
        "folder": folder,
    }
    return Setup(**(values | changes))


@contextmanager
def open_world(
    folder: Path,
    limits: Limits | None = None,
    actions: Sequence[Action] = ACTIONS,
    **changes: Any,
) -> Iterator[Environment]:
    """Open the environment of a fresh trial on a task made with ``changes``, its clock running."""
    setup = make_setup(folder / "trial", load(folder, **changes), limits)
    with open_environment(setup, actions) as environment:
        environment.start()
        yield environment
