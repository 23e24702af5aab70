"""What a session with tasks does beyond plain pytest; registered once there is a task.

Everything that `pytest_mlab.plugin` does not load for sessions without tasks comes in through here.
"""

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import runs
from pytest_mlab.actions import ACTIONS, Action
from pytest_mlab.agents import Agent, choose_actions, find_agent
from pytest_mlab.collection import effective_limits, identity_of
from pytest_mlab.data import PreparedData, prepare_data
from pytest_mlab.environment import Environment
from pytest_mlab.gpu import find_devices
from pytest_mlab.llm import LLM, Spec, lookup
from pytest_mlab.outcome import RESULT, STARTED, settle_outcome
from pytest_mlab.reporting.collector import ResultCollector
from pytest_mlab.reporting.junit import junit_properties
from pytest_mlab.reporting.progress import show_preparing
from pytest_mlab.results import Identity, Result
from pytest_mlab.sandbox import Sandbox, find_sandbox
from pytest_mlab.settings import SESSION, THRESHOLD, read_settings
from pytest_mlab.subjects import SETTINGS, check_subjects, connect_llm
from pytest_mlab.task import Task
from pytest_mlab.trial import Setup, open_environment, run_trial
from pytest_mlab.workspace import Workspace

DEVICES = pytest.StashKey[tuple[str, ...]]()
SANDBOX = pytest.StashKey[Sandbox]()


def start(config: pytest.Config) -> None:
    """Check what was asked for, before anything runs; raises `MlabError`."""
    config.stash[SETTINGS] = settings = read_settings(config)
    # A task that is wrong is an error of its own: it keeps no other from running.
    config.option.continue_on_collection_errors = True
    config.stash[SANDBOX] = find_sandbox(settings.sandbox)
    check_subjects(config, config.stash[SANDBOX])
    devices: tuple[str, ...] | None = getattr(config, "workerinput", {}).get("mlab_devices")
    config.stash[DEVICES] = find_devices(settings.gpus) if devices is None else devices
    if not _is_worker(config):
        folder = session_folder(config)
        plan = partial(runs.read_plan, folder)
        collector = ResultCollector(config, plan, folder / runs.RESULTS, settings.json)
        config.pluginmanager.register(collector, "pytest_mlab.results")


def session_folder(config: pytest.Config) -> Path:
    """Give the folder of this session's records."""
    return config.rootpath / config.stash[SESSION]


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let xdist's workers share the devices that the controller found."""
    node.workerinput["mlab_devices"] = node.config.stash[DEVICES]


def pytest_report_header(config: pytest.Config) -> str:
    """Say what confines the agents and where the records go."""
    found: tuple[str, ...] = config.stash[DEVICES]
    devices = ", ".join(found) or "none"
    sandbox = config.stash[SANDBOX].name
    return f"mlab: sandbox {sandbox}, GPUs {devices}, records in {config.stash[SESSION]}"


@pytest.hookimpl(trylast=True)
def pytest_mlab_make_agent(name: str) -> Agent:
    """Make the agent of a name."""
    return find_agent(name)


@pytest.hookimpl(trylast=True)
def pytest_mlab_make_llm(name: str) -> Spec:
    """Find the language model of a name."""
    return lookup(name)


@pytest.hookimpl(trylast=True)
def pytest_mlab_actions(agent: Agent, llm: str | None) -> Sequence[Action]:
    """Give the actions that an agent names, else all that can be done here."""
    return choose_actions(agent, llm)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Write down which trials are going to run; one process does it for all."""
    config = session.config
    worker = getattr(config, "workerinput", {"workerid": "gw0"})["workerid"]
    if worker == "gw0" and not config.option.collectonly:
        identities = [identity for item in session.items if (identity := identity_of(item))]
        if identities:
            runs.write_plan(session_folder(config), identities)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give an item the outcome of its trial, and let the report carry the result."""
    report = yield
    result = settle_outcome(item, call, report)
    if result is not None:
        properties = junit_properties(result)
        for where in (item, report):
            # a rerun's take the place of the first run's
            others = (pair for pair in where.user_properties if not pair[0].startswith("mlab."))
            where.user_properties[:] = [*others, *properties]
        report.mlab_result = result.to_json()  # type: ignore[attr-defined]  # reports take extras
    return report


def count_threads() -> int:
    """Give a trial's share of the cores: libraries that use more than that slow all trials down."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, len(os.sched_getaffinity(0)) // workers)


def prepare_task(config: pytest.Config, task: Task) -> PreparedData:
    """Prepare a task's data, its progress shown past pytest's capturing."""
    capture = config.pluginmanager.get_plugin("capturemanager")

    def watch(folder: Path) -> AbstractContextManager[object]:
        return show_preparing(task.name, folder, capture, sys.__stderr__ or sys.stderr)

    return prepare_data(task, watch)


def open_record(config: pytest.Config, item: pytest.Item) -> Path:
    """Make the folder of an item's records."""
    identity = identity_of(item)
    assert identity is not None
    return runs.open_folder(session_folder(config), identity)


def make_setup(request: pytest.FixtureRequest) -> Setup:
    """Put a trial's setup together from its fixtures."""
    identity = identity_of(request.node)
    assert identity is not None
    settings, task = request.config.stash[SETTINGS], request.getfixturevalue("mlab_task")
    return Setup(
        identity=identity,
        task=task,
        folder=request.getfixturevalue("mlab_folder"),
        data=request.getfixturevalue("mlab_data"),
        workspace=request.getfixturevalue("mlab_workspace"),
        sandbox=request.getfixturevalue("mlab_sandbox"),
        devices=request.getfixturevalue("mlab_gpu"),
        threads=count_threads(),
        limits=effective_limits(task, settings),
        threshold=settings.threshold,
    )


def connect_item(config: pytest.Config, item: pytest.Item) -> LLM | None:
    """Connect to the LLM of an item's trial, if it has one."""
    identity = identity_of(item)
    assert identity is not None
    return connect_llm(config, identity)


def make_attempt(request: pytest.FixtureRequest) -> Callable[[Agent], Result]:
    """Give the function that lets an agent do the task once, in a folder of its own."""
    task: Task = request.getfixturevalue("mlab_task")
    data: PreparedData = request.getfixturevalue("mlab_data")

    def attempt(agent: Agent) -> Result:
        folder = request.getfixturevalue("tmp_path_factory").mktemp("attempt")
        identity = Identity(
            task=task.name,
            agent=type(agent).__name__,
            llm=None,
            trial=1,
            nodeid=request.node.nodeid,
            task_digest=task.digest,
            seed=0,
        )
        setup = Setup(
            identity=identity,
            task=task,
            folder=folder,
            data=data,
            workspace=Workspace.create(task, data.public, folder / runs.WORKSPACE),
            sandbox=request.getfixturevalue("mlab_sandbox"),
            devices=request.getfixturevalue("mlab_gpu"),
            threads=count_threads(),
            limits=effective_limits(task, request.config.stash[SETTINGS]),
            threshold=THRESHOLD,
        )
        with open_environment(setup, ACTIONS) as environment:
            return run_trial(setup, agent, environment)

    return attempt


def make_runner(
    item: pytest.Item, setup: Setup, agent: Agent, environment: Environment
) -> Callable[[], Result]:
    """Give the function that runs a trial and keeps its result for the report."""

    def run() -> Result:
        item.stash[STARTED] = True
        item.stash[RESULT] = result = run_trial(setup, agent, environment)
        item.config.hook.pytest_mlab_trial_finished(config=item.config, result=result)
        return result

    return run
