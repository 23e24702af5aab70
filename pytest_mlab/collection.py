"""From task folders to test items: what is collected, and which trials there are."""

import functools
import hashlib
import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, TypeVar

import pytest

from pytest_mlab.conventions import FILE
from pytest_mlab.deadline import GRACE
from pytest_mlab.discovery import BUNDLED, SELECTION, find_tasks, is_task, task_file
from pytest_mlab.exceptions import TaskError, UsageError
from pytest_mlab.mlagentbench import PROBLEM
from pytest_mlab.mlagentbench.folder import load_mlagentbench
from pytest_mlab.planning import Need
from pytest_mlab.results import Identity
from pytest_mlab.subjects import SETTINGS, list_subjects
from pytest_mlab.task import Task
from pytest_mlab.taskfile import load_task

Node = TypeVar("Node", bound=pytest.Collector)

IDENTITY = pytest.StashKey[Identity]()
"""The identity of an item's trial where it is not the one that the item's id says."""

TAGS = pytest.StashKey[set[str]]()
"""The tags that pytest knows as markers already."""

NET = 60.0
"""Seconds that pytest-timeout leaves a trial beyond all limits of its own."""

TRIAL_FIXTURES = frozenset(
    {
        "mlab_run",
        "mlab_environment",
        "mlab_setup",
        "mlab_agent",
        "mlab_llm",
        "mlab_folder",
        "mlab_workspace",
    }
)
"""A test that uses one of these is run once for every trial, not once for every task."""


@dataclass(frozen=True, slots=True)
class TrialSpec:
    """One trial to run: the parameter of a test item."""

    task: Task
    agent: str
    llm: str | None
    number: int
    session_seed: int

    @property
    def seed(self) -> int:
        """The trial's own seed, the same for all agents."""
        text = f"{self.session_seed}/{self.task.name}/{self.number}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])

    @property
    def id(self) -> str:
        """The parameter's id, the same in every process and every session."""
        parts = [self.task.name, self.agent, self.llm, f"trial{self.number}"]
        return "-".join(part for part in parts if part)


class TaskFolder(pytest.Directory):
    """A task's folder: nothing in it is collected but the task itself, by its ``file``."""

    file: Path

    def collect(self) -> Iterator[pytest.Collector]:
        """Give the one module there is, or the folder that it is in."""
        if self.file.parent == self.path:
            yield make_child(TaskModule, self.file, self)
        else:
            yield make_child(ScriptsFolder, self.file.parent, self)


class ScriptsFolder(pytest.Directory):
    """The folder ``scripts/`` of a task in the original's format."""

    def collect(self) -> Iterator[pytest.Collector]:
        """Give the one module there is."""
        yield make_child(TaskModule, self.path.parent / PROBLEM, self)


class TaskModule(pytest.Module):
    """The file that makes a folder a task, collected as the packaged test module."""

    task: Task

    def _getobj(self) -> ModuleType:
        settings = self.config.stash[SETTINGS]
        name = "preparing" if settings.prepare else "checks" if settings.check else "benchmark"
        return importlib.import_module(f"pytest_mlab.{name}")

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Load the task, then collect its tests; a wrong task is a collection error."""
        try:
            folder = self.getparent(TaskFolder)
            assert folder is not None
            self.task = load_folder(folder.path, folder.file)
        except TaskError as error:
            raise self.CollectError(str(error)) from error
        known = self.config.stash.setdefault(TAGS, set())
        for tag in self.task.tags:
            if tag not in known:
                self.config.addinivalue_line("markers", f"{tag}: tag of benchmark tasks")
                known.add(tag)
            self.add_marker(tag)
        for net in make_net(self.config, self.task):
            self.add_marker(net)
        return super().collect()


def load_folder(folder: Path, file: Path | None) -> Task:
    """Load a task of either format, which its file tells."""
    return load_task(folder) if file == folder / FILE else load_mlagentbench(folder)


def collect_task(path: Path, file: Path, parent: pytest.Collector) -> TaskFolder:
    """Collect a task's folder, its file being known."""
    extra: dict[str, Any] = {}
    # Bundled tasks outside the root folder get the ids of a checkout.
    if not path.is_relative_to(parent.config.rootpath) and path.is_relative_to(BUNDLED):
        extra["nodeid"] = path.relative_to(BUNDLED.parent).as_posix()
    folder: TaskFolder = TaskFolder.from_parent(parent, path=path, **extra)
    folder.file = file
    return folder


def make_child(kind: type[Node], path: Path, parent: pytest.Directory) -> Node:
    """Make a collector of what lies in a folder; its id is the folder's and its own name."""
    nodeid = (PurePosixPath(parent.nodeid) / path.name).as_posix()
    node: Node = kind.from_parent(parent, path=path, nodeid=nodeid)
    return node


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Give a test its tasks or trials: those of its task folder, or of its ``mlab_task`` marker."""
    wants_trial = not TRIAL_FIXTURES.isdisjoint(metafunc.fixturenames)
    tasks = _find_tasks(metafunc)
    if wants_trial:
        trials = list(list_trials(tasks, metafunc.config))
        parameters: Sequence[Any] = trials
        if metafunc.definition.getparent(TaskModule) is None:
            parameters = [
                pytest.param(trial, marks=_choose_net(metafunc, trial.task)) for trial in trials
            ]
        metafunc.parametrize("mlab_trial", parameters, ids=[trial.id for trial in trials])
    else:
        metafunc.parametrize("mlab_task", tasks, ids=[task.name for task in tasks])


def _choose_net(metafunc: pytest.Metafunc, task: Task) -> tuple[pytest.MarkDecorator, ...]:
    """Give a test of the user's our net, unless it has a time limit of its own."""
    given = metafunc.definition.get_closest_marker("timeout") is not None
    return () if given else make_net(metafunc.config, task)


def make_net(config: pytest.Config, task: Task) -> tuple[pytest.MarkDecorator, ...]:
    """Give the net of pytest-timeout under a task's trials, wider than their own limits."""
    if not config.pluginmanager.hasplugin("timeout"):
        return ()
    settings = config.stash[SETTINGS]
    seconds = settings.timeout or task.limits.seconds
    on_the_way = settings.eval_steps * (settings.max_steps or task.limits.steps)
    scoring = (1 + on_the_way) * task.limits.scoring_seconds
    return (_make_timeout(seconds + GRACE + scoring + NET),)


@functools.cache
def _make_timeout(seconds: float) -> pytest.MarkDecorator:
    return pytest.mark.timeout(seconds, method="signal", func_only=True)


def list_trials(tasks: Iterable[Task], config: pytest.Config) -> Iterator[TrialSpec]:
    """Give every trial of the tasks, in a fixed order."""
    settings, subjects = config.stash[SETTINGS], list_subjects(config)
    for task in tasks:
        for agent, llm in subjects:
            for number in range(1, settings.trials + 1):
                yield TrialSpec(task, agent, llm, number, settings.seed)


def _find_tasks(metafunc: pytest.Metafunc) -> Sequence[Task]:
    module = metafunc.definition.getparent(TaskModule)
    if module is not None:
        return [module.task]
    patterns = [
        pattern
        for marker in metafunc.definition.iter_markers("mlab_task")
        for pattern in marker.args
    ]
    if not patterns:
        raise UsageError(
            f"{metafunc.definition.nodeid}: uses a fixture of pytest-mlab, but names no task; "
            'mark it with @pytest.mark.mlab_task("digits")'
        )
    found = [task for pattern in patterns for task in _match(metafunc.config, pattern)]
    return list({task.folder: task for task in found}.values())


def _match(config: pytest.Config, pattern: object) -> list[Task]:
    if not isinstance(pattern, str) or not pattern or Path(pattern).is_absolute():
        raise UsageError(
            f"mlab_task({pattern!r}): give a task's name or a pattern of paths below the root "
            'folder, such as "digits" or "tasks/c*"'
        )
    bases = [config.rootpath / BUNDLED.name, *config.stash[SELECTION].task_folders]
    known = [find_tasks(base) for base in bases if base.is_dir()]
    by_path = [path for path in sorted(config.rootpath.glob(pattern)) if is_task(path)]
    by_name = ([task for task in tasks if _is_called(task, pattern)] for tasks in known)
    folders = next(filter(None, (by_path, *by_name)), None)
    if folders is None:
        names = ", ".join(dict.fromkeys(task.name for tasks in known for task in tasks))
        raise UsageError(
            f'mlab_task("{pattern}") matches no task folder below {config.rootpath}, and none of '
            f"{names or 'the bundled tasks'}"
        )
    return [load_folder(folder, task_file(folder)) for folder in folders]


def _is_called(task: Path, pattern: str) -> bool:
    return fnmatch(task.name, pattern) or fnmatch(f"{task.parent.name}/{task.name}", pattern)


def identity_of(item: pytest.Item) -> Identity | None:
    """Give the identity of the trial that an item runs, if it runs one."""
    if IDENTITY in item.stash:
        return item.stash[IDENTITY]
    spec = spec_of(item)
    if spec is None:
        return None
    return Identity(
        task=spec.task.name,
        agent=spec.agent,
        llm=spec.llm,
        trial=spec.number,
        nodeid=item.nodeid,
        task_digest=spec.task.digest,
        seed=spec.seed,
    )


def need_of(item: pytest.Item, devices: int) -> Need | None:
    """Give what is known beforehand of the trial that an item runs, if it runs one.

    ``devices`` is how many the machine has.
    """
    spec = spec_of(item)
    if spec is None:
        return None
    limits = spec.task.limits
    return Need(
        expected_seconds=limits.expected_seconds,
        limit_seconds=item.config.stash[SETTINGS].timeout or limits.seconds,
        demand=spec.task.resources.demand(devices),
    )


def spec_of(item: pytest.Item) -> TrialSpec | None:
    callspec = getattr(item, "callspec", None)
    spec = callspec.params.get("mlab_trial") if callspec is not None else None
    return spec if isinstance(spec, TrialSpec) else None
