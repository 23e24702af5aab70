"""Trials without agents: a ``conftest.py`` that reports results as the plugin does.

Every test function ``test_trial`` is a trial of the task that its file is named after, and ends
as its call of ``finish`` says. All else is real: pytest, xdist's workers, the JUnit writer.
"""

import functools
import os
import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import hookspec
from pytest_mlab.reporting.collector import ResultCollector
from pytest_mlab.reporting.junit import junit_properties
from pytest_mlab.results import Identity, Result, Status, Stop, Usage
from pytest_mlab.runs import read_plan, write_plan

Finish = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mlab-json", type=Path)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspec)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        plan = functools.partial(read_plan, config.rootpath)
        records = config.rootpath / "records" / "results.json"
        collector = ResultCollector(config, plan, records, config.getoption("--mlab-json"))
        config.pluginmanager.register(collector)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        identities = [identify(item.nodeid) for item in session.items]
        write_plan(session.config.rootpath, filter(None, identities))


def identify(nodeid: str) -> Identity | None:
    found = re.search(r"test_([\w-]+)\.py::test_trial(?:\[(?:.*-)?(\d+)\])?$", nodeid)
    if found is None:
        return None
    return Identity(
        task=found[1],
        agent=os.environ.get("TRIAL_AGENT", "hillclimb"),
        llm=os.environ.get("TRIAL_LLM"),
        trial=int(found[2] or 0),
        nodeid=nodeid,
        task_digest="f00d",
        seed=0,
    )


@pytest.fixture
def finish(request: pytest.FixtureRequest) -> Finish:
    """End the trial: ``finish("success", improvement=0.2, steps=3)``."""
    return lambda status, **figures: end_trial(request.node, status, **figures)


def end_trial(item: Any, status: Status, improvement: float | None = None, **figures: Any) -> None:
    if status in ("success", "below-threshold"):
        improvement = {"success": 0.13, "below-threshold": 0.02}[status]
        figures = {"score": 0.8 * (1 + improvement), **figures}
    stop: Stop = "submitted"
    identity = identify(item.nodeid)
    assert identity is not None
    result = Result(
        **vars(identity),
        **{"stop": stop, "metric": "accuracy", "baseline": 0.8, "steps": 12, "seconds": 31.2}
        | figures,
        status=status,
        improvement=improvement,
        usage=Usage(100, 20, 10, 0.25),
    )
    item.mlab_result = result
    item.user_properties += junit_properties(result)
    assert result.success, result.summary()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: Any, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    result = getattr(item, "mlab_result", None)
    if result is not None and (call.when == "call" or (call.when == "setup" and report.failed)):
        report.mlab_result = result.to_json()  # type: ignore[attr-defined]
    return report
