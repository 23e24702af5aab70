"""The pytest plugin: options, hooks and fixtures; what they do is written elsewhere.

Every session of pytest loads this module, so it imports next to nothing. What a session with tasks
needs comes with `pytest_mlab.session`, which is registered as soon as there is a task.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mlab import hookspec
from pytest_mlab.discovery import SELECTION, Selection, task_file
from pytest_mlab.exceptions import MlabError
from pytest_mlab.options import OPTIONS, SESSION, name_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_mlab.agents import Agent
    from pytest_mlab.collection import TaskFolder, TrialSpec
    from pytest_mlab.data import PreparedData
    from pytest_mlab.environment import Environment
    from pytest_mlab.llm import LLM
    from pytest_mlab.results import Result
    from pytest_mlab.sandbox import Sandbox
    from pytest_mlab.task import Baseline, Task
    from pytest_mlab.workspace import Workspace
    from pytest_mlab.world import Setup


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and their twins in ini files."""
    group = parser.getgroup("mlab", "ML agent benchmark")
    for option in OPTIONS:
        group.addoption(option.flag, **option.arguments)
        if option.ini:
            kind: Any = "args" if option.many else "string"
            parser.addini(option.name, option.help, type=kind, default=None)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hooks of our own."""
    pluginmanager.add_hookspecs(hookspec)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose what is collected; with tasks among it, check the options before anything runs."""
    config.addinivalue_line("markers", "mlab_task(*patterns): run the test on these tasks")
    with errors_as(pytest.UsageError):
        config.stash[SESSION] = name_session(config)
        config.stash[SELECTION] = selection = Selection(config)
        config.args = selection.arguments
        if selection.asked:
            activate(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> TaskFolder | None:
    """Collect a folder as a task where it is one and was asked for."""
    asked = parent.config.stash[SELECTION].asks_for(path)
    file = task_file(path) if asked else None
    if file is None:
        return None
    activate(parent.config)
    from pytest_mlab.collection import collect_task

    return collect_task(path, file, parent)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that uses our fixtures its tasks or its trials."""
    if "mlab_task" in metafunc.fixturenames or "mlab_trial" in metafunc.fixturenames:
        with errors_as(pytest.Collector.CollectError):
            activate(metafunc.config)
            from pytest_mlab.collection import parametrize

            parametrize(metafunc)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let xdist's workers record into the same folder as the controller."""
    node.workerinput["mlab_session"] = node.config.stash[SESSION]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Show results in the controller also where only the workers could know of tasks."""
    if (node.config.rootpath / node.config.stash[SESSION]).is_dir():
        activate(node.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal trials out the longest first, where they were asked for and ``--dist`` is as usual."""
    if config.getoption("dist") != "load" or not config.stash[SELECTION].asked:
        return None
    from pytest_mlab.scheduling import TrialScheduling

    return TrialScheduling(config, log)


def activate(config: pytest.Config) -> None:
    """Register what a session with tasks needs, once."""
    if not config.pluginmanager.hasplugin("pytest_mlab.session"):
        from pytest_mlab import session

        config.pluginmanager.register(session, "pytest_mlab.session")
        session.start(config)


@contextmanager
def errors_as(kind: type[Exception]) -> Iterator[None]:
    """Say an error of ours in pytest's own way."""
    try:
        yield
    except MlabError as error:
        raise kind(str(error)) from error


@pytest.fixture
def mlab_trial() -> TrialSpec:
    """Which trial this is: task, names of agent and LLM, number, seed. Given by parametrization."""
    raise AssertionError("mlab_trial is a parameter, given in pytest_generate_tests")


@pytest.fixture
def mlab_task(mlab_trial: TrialSpec) -> Task:
    """The task that the test runs on."""
    return mlab_trial.task


@pytest.fixture
def mlab_agent(request: pytest.FixtureRequest, mlab_trial: TrialSpec) -> Agent:
    """The agent that acts, made anew for each trial."""
    from pytest_mlab.staging import make_agent_of

    return make_agent_of(request.node, mlab_trial.agent)


@pytest.fixture
def mlab_llm(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> LLM | None:
    """The language model that the agent asks; `None` where it asks none."""
    from pytest_mlab.staging import connect_item

    return connect_item(pytestconfig, request.node)


@pytest.fixture
def mlab_lease(request: pytest.FixtureRequest, mlab_task: Task) -> Iterator[tuple[str, ...]]:
    """The trial's devices, with its memory and its cores; waits until all of them are free."""
    from pytest_mlab.shares import hold_resources

    with hold_resources(request.node, mlab_task) as devices:
        yield devices


@pytest.fixture
def mlab_gpu(mlab_lease: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of the devices that are the trial's alone."""
    return mlab_lease


@pytest.fixture
def mlab_sandbox(pytestconfig: pytest.Config) -> Sandbox:
    """How the commands of agent and scorer are confined."""
    from pytest_mlab.session import SANDBOX

    return pytestconfig.stash[SANDBOX]


@pytest.fixture
def mlab_data(pytestconfig: pytest.Config, mlab_task: Task) -> PreparedData:
    """The task's prepared data, public and private."""
    from pytest_mlab.staging import prepare_task

    return prepare_task(pytestconfig, mlab_task)


@pytest.fixture
def mlab_baseline(request: pytest.FixtureRequest, mlab_data: PreparedData) -> Baseline:
    """The score of the task's starter: the stated one, else measured on this machine."""
    from pytest_mlab.attempts import make_baseline

    return make_baseline(request)


@pytest.fixture
def mlab_folder(request: pytest.FixtureRequest, mlab_agent: Agent) -> Path:
    """The folder of the trial's records; whose they are is already written down in it."""
    from pytest_mlab.staging import open_record

    return open_record(request.node, mlab_agent)


@pytest.fixture
def mlab_workspace(request: pytest.FixtureRequest, mlab_task: Task, mlab_folder: Path) -> Workspace:
    """A fresh workspace, in the trial's folder."""
    from pytest_mlab.resumption import open_workspace

    return open_workspace(request, mlab_task, mlab_folder)


@pytest.fixture
def mlab_setup(request: pytest.FixtureRequest, mlab_trial: TrialSpec) -> Setup:
    """All that a trial runs with, put together from the fixtures above."""
    from pytest_mlab.staging import make_setup

    return make_setup(request)


@pytest.fixture
def mlab_environment(
    request: pytest.FixtureRequest, mlab_setup: Setup, mlab_agent: Agent, mlab_llm: LLM | None
) -> Iterator[Environment]:
    """What the agent gets: the problem, the actions, the LLMs, the limits."""
    from pytest_mlab.staging import open_world

    with open_world(request, mlab_setup, mlab_agent, mlab_llm) as opened:
        yield opened


@pytest.fixture
def mlab_attempt(request: pytest.FixtureRequest, mlab_task: Task) -> Callable[[Agent], Result]:
    """Lets an agent do the task once, apart from all records; for checks of the task itself."""
    from pytest_mlab.attempts import make_attempt

    return make_attempt(request)


@pytest.fixture
def mlab_run(
    request: pytest.FixtureRequest,
    mlab_agent: Agent,
    mlab_setup: Setup,
    mlab_environment: Environment,
) -> Callable[[], Result]:
    """Runs the trial and gives its result; to be called once, in the body of the test."""
    from pytest_mlab.staging import make_runner

    return make_runner(request.node, mlab_setup, mlab_agent, mlab_environment)
