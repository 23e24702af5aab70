"""What the fixtures of a trial are made of; loaded with the first trial that runs."""

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import pytest

from pytest_mlab import runs
from pytest_mlab.agents import Agent, name_of
from pytest_mlab.attempts import with_baseline
from pytest_mlab.budgeting import BUDGET, count_devices
from pytest_mlab.collection import IDENTITY, identity_of, spec_of
from pytest_mlab.data import PreparedData, prepare_data
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.exceptions import MlabError, Unavailable
from pytest_mlab.llm import LLM, Spec, connect
from pytest_mlab.models import Models, meter_models
from pytest_mlab.outcome import RESULT, STARTED
from pytest_mlab.reporting.progress import show_preparing
from pytest_mlab.results import Identity, Result
from pytest_mlab.resumption import PAST, TAKEN, take_up
from pytest_mlab.session import is_shown_live, session_folder
from pytest_mlab.settings import Settings
from pytest_mlab.shares import begin_activity, count_threads, hold_devices, note_activity
from pytest_mlab.subjects import SETTINGS, find_llm, find_roles, make_agent
from pytest_mlab.task import Task
from pytest_mlab.trial import error_of, run_trial
from pytest_mlab.world import Setup, look_back, open_environment

AGENT = pytest.StashKey[Agent]()
"""The agent that an item's id names, made for its trial."""


def effective_limits(task: Task, settings: Settings) -> Limits:
    """Give what an agent may use: the options, else what the task says."""
    return Limits(
        seconds=settings.timeout or task.limits.seconds,
        steps=settings.max_steps or task.limits.steps,
        tokens=settings.max_tokens,
        cost=settings.max_cost,
    )


def prepare_task(config: pytest.Config, task: Task) -> PreparedData:
    """Prepare a task's data, its progress shown past pytest's capturing."""
    capture = config.pluginmanager.get_plugin("capturemanager")

    def watch(folders: Sequence[Path]) -> AbstractContextManager[object]:
        if is_shown_live(config):
            return nullcontext()
        return show_preparing(task.name, folders, capture, sys.__stderr__ or sys.stderr)

    return prepare_data(task, watch)


def make_agent_of(item: pytest.Item, name: str) -> Agent:
    """Make the agent that an item's id names."""
    item.stash[AGENT] = agent = make_agent(item.config, name)
    return agent


def open_record(item: pytest.Item, agent: Agent) -> Path:
    """Make the folder of an item's records.

    An agent that comes from a fixture of the user's own is recorded under its own name: what it
    achieves must not be credited to the one that the item's id names.
    """
    identity = identity_of(item)
    assert identity is not None
    if agent is not item.stash.get(AGENT, None):
        identity = dataclasses.replace(identity, agent=name_of(agent))
        item.stash[IDENTITY] = identity
    folder = runs.open_folder(session_folder(item.config), identity)
    begin_activity(item, folder)
    spec = spec_of(item)
    assert spec is not None
    take_up(item, folder, agent, effective_limits(spec.task, item.config.stash[SETTINGS]))
    return folder


@contextmanager
def open_world(
    request: pytest.FixtureRequest, setup: Setup, agent: Agent, llm: LLM | None
) -> Iterator[Environment]:
    """Give the environment of an item's trial; that of one taken over shows what was done."""
    item, config = request.node, request.config
    if TAKEN in item.stash:
        with look_back(setup, Path(item.stash[TAKEN].folder)) as environment:
            yield environment
        return
    actions = config.hook.pytest_mlab_actions(
        config=config, task=setup.task, agent=agent, llm=setup.identity.llm
    )
    with open_environment(setup, actions, make_models(config, setup, llm)) as environment:
        yield environment


def make_setup(request: pytest.FixtureRequest) -> Setup:
    """Put a trial's setup together from its fixtures."""
    item, settings = request.node, request.config.stash[SETTINGS]
    folder = request.getfixturevalue("mlab_folder")
    task: Task = request.getfixturevalue("mlab_task")
    identity = identity_of(item)
    assert identity is not None
    setup = Setup(
        identity=identity,
        task=task,
        folder=folder,
        data=PreparedData(folder / "public", folder / "private"),
        workspace=request.getfixturevalue("mlab_workspace"),
        sandbox=request.getfixturevalue("mlab_sandbox"),
        limits=effective_limits(task, settings),
        threshold=settings.threshold,
        eval_steps=settings.eval_steps,
        past=item.stash.get(PAST, None),
    )
    if TAKEN in item.stash:
        return setup  # nothing is prepared, measured or leased for it again
    note_activity(item, metric=task.metric.name, max_steps=setup.limits.steps)
    return dataclasses.replace(
        setup,
        task=with_baseline(request),
        data=request.getfixturevalue("mlab_data"),
        devices=hold_devices(request),
        threads=count_threads(task),
    )


def connect_item(config: pytest.Config, item: pytest.Item) -> LLM | None:
    """Connect to the LLM of an item's trial, if it has one."""
    identity = identity_of(item)
    assert identity is not None
    if identity.llm is None or TAKEN in item.stash:
        return None
    return _connect(find_llm(config, identity.llm), identity)


def _connect(spec: Spec, identity: Identity) -> LLM:
    return connect(spec, task=identity.task, agent=identity.agent, trial=identity.trial)


def make_models(config: pytest.Config, setup: Setup, llm: LLM | None) -> Models | None:
    """Put a trial's limits, the session's budget and the record in front of its LLMs."""
    if llm is None:
        return None
    identity = setup.identity
    return meter_models(
        llm,
        find_roles(config, identity.llm or llm.name),
        partial(_connect, identity=identity),
        identity=identity,
        folder=setup.folder,
        max_tokens=setup.limits.tokens,
        max_cost=setup.limits.cost,
        budget=config.stash.get(BUDGET, None),
    )


def make_runner(
    item: pytest.Item, setup: Setup, agent: Agent, environment: Environment
) -> Callable[[], Result]:
    """Give the function that runs a trial and keeps its result for the report."""

    def run() -> Result:
        item.stash[STARTED] = True
        if TAKEN in item.stash:
            item.stash[RESULT] = taken = item.stash[TAKEN]
            return taken
        try:
            with count_devices(item.config, setup):
                item.stash[RESULT] = result = run_trial(setup, agent, environment)
        except Unavailable:
            raise
        except MlabError as error:
            item.stash[RESULT] = error_of(setup, environment, error)
            raise
        item.config.hook.pytest_mlab_trial_finished(config=item.config, result=result)
        return result

    return run
