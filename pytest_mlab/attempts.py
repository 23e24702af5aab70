"""Attempts at a task beside its trials: of its starter, for a baseline, and of its own checks."""

import dataclasses
import sys
from collections.abc import Callable

import pytest

from pytest_mlab import runs
from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents import Agent
from pytest_mlab.agents.baseline import BaselineAgent
from pytest_mlab.baselines import find_baseline
from pytest_mlab.conventions import THRESHOLD
from pytest_mlab.environment import Limits
from pytest_mlab.reporting.progress import show_measuring
from pytest_mlab.results import Identity, Result
from pytest_mlab.session import is_shown_live
from pytest_mlab.shares import count_threads, hold_devices
from pytest_mlab.task import Baseline, Task
from pytest_mlab.trial import run_trial
from pytest_mlab.workspace import Workspace
from pytest_mlab.world import Setup, open_environment


def make_baseline(request: pytest.FixtureRequest) -> Baseline:
    """Find a task's baseline, which may mean to run its starter now."""
    task: Task = request.getfixturevalue("mlab_task")
    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def announce() -> None:
        if not is_shown_live(request.config):
            show_measuring(task, capture, sys.__stderr__ or sys.stderr)

    return find_baseline(
        task,
        request.getfixturevalue("mlab_data"),
        lambda unknown: _attempt(request, unknown, BaselineAgent()),
        announce,
    )


def make_attempt(request: pytest.FixtureRequest) -> Callable[[Agent], Result]:
    """Give the function that lets an agent do the task once, in a folder of its own."""
    task = with_baseline(request)
    return lambda agent: _attempt(request, task, agent)


def with_baseline(request: pytest.FixtureRequest) -> Task:
    """Give the task of a test with the baseline that its submissions are held against."""
    task: Task = request.getfixturevalue("mlab_task")
    return dataclasses.replace(task, baseline=request.getfixturevalue("mlab_baseline"))


def _attempt(request: pytest.FixtureRequest, task: Task, agent: Agent) -> Result:
    data = request.getfixturevalue("mlab_data")
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
        devices=hold_devices(request),
        threads=count_threads(task),
        limits=Limits(task.limits.seconds, task.limits.steps),
        threshold=THRESHOLD,
    )
    with open_environment(setup, ACTIONS) as environment:
        return run_trial(setup, agent, environment)
