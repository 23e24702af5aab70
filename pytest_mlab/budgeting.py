"""The budget of a session: looked at before each trial, and told of in the end."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mlab.budget import Budget, Kind
from pytest_mlab.deadline import GRACE
from pytest_mlab.exceptions import LEFT_OVER, BudgetSpent, LeftOver
from pytest_mlab.gating import UNDECIDED
from pytest_mlab.options import SESSION
from pytest_mlab.subjects import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_mlab.planning import Need
    from pytest_mlab.reporting.collector import ResultCollector
    from pytest_mlab.results import Identity
    from pytest_mlab.world import Setup

FILE = "budget.jsonl"
"""What the session has used, in its folder; all its processes write it."""

BUDGET = pytest.StashKey[Budget]()
"""Of each process; there only where there is a budget."""


def open_budget(config: pytest.Config) -> None:
    """Open the session's budget, if it has one; its time began when the controller's did."""
    allowance = config.stash[SETTINGS].budget
    if allowance is not None:
        started = getattr(config, "workerinput", {}).get("mlab_started", time.monotonic())
        path = config.rootpath / config.stash[SESSION] / FILE
        config.stash[BUDGET] = Budget(path, allowance, started)


def check_budget(config: pytest.Config, identity: Identity, need: Need | None) -> None:
    """Raise `LeftOver` where nothing is left of what a trial would use."""
    kinds: list[Kind] = [] if identity.llm is None else ["usd", "tokens"]
    if need is not None and need.demand.gpus:
        kinds.append("gpu_hours")
    try:
        config.stash[BUDGET].check(*kinds)
    except BudgetSpent as error:
        raise LeftOver(error.limit) from None


def count_devices(config: pytest.Config, setup: Setup) -> AbstractContextManager[None]:
    """Count a trial's devices as used for as long as the context lasts."""
    budget = config.stash.get(BUDGET, None)
    if budget is None:
        return nullcontext()
    most = setup.limits.seconds + GRACE + setup.task.limits.scoring_seconds
    return budget.hold_devices(len(setup.devices), most)


class BudgetKeeper:
    """Shares the session's clock, and tells in the end; registered in the controller."""

    def __init__(self, config: pytest.Config, collector: ResultCollector) -> None:
        self._config = config
        self._budget = config.stash[BUDGET]
        self._started = time.monotonic()
        self._collector = collector

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Let xdist's workers count the time from when the session began."""
        node.workerinput["mlab_started"] = self._started

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let no session pass that was to run more trials than it could afford.

        A gate on all trials together takes them into account by itself.
        """
        left = any(skip.reason.startswith(LEFT_OVER) for skip in self._collector.skips)
        if left and session.exitstatus == 0 and self._config.stash[SETTINGS].gate is None:
            session.exitstatus = UNDECIDED

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, None, None]:
        """Say what was used, after the collector's table."""
        yield
        if self._collector.planned:
            terminalreporter.write_line(f"budget: {self._budget.describe()}")
