"""Progress while a session runs: a live display on a terminal, lines at intervals elsewhere."""

import os
import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_mlab.activity import read_activities, remove_activities
from pytest_mlab.planning import Expectations, Job, Planned, estimate_seconds, make_jobs
from pytest_mlab.reporting.collector import ResultCollector
from pytest_mlab.reporting.overview import Overview, Running, TraceFollower, render_overview
from pytest_mlab.reporting.screen import Screen
from pytest_mlab.resources import Demand
from pytest_mlab.results import Usage
from pytest_mlab.runs import TRACE, read_planned
from pytest_mlab.subjects import SETTINGS

Mode = Literal["live", "plain", "none"]

_REFRESH = 0.5


class Watcher:
    """Shows what a session is at as long as its trials run; registered in the controller."""

    def __init__(
        self,
        config: pytest.Config,
        session: Path,
        collector: ResultCollector,
        expectations: Expectations,
        machine: Demand,
    ) -> None:
        self._config = config
        self._mode: Mode | None = None
        self._session = session
        self._collector = collector
        self._expectations = expectations
        self._machine = machine
        self._planned: Mapping[str, Planned] = {}
        self._running: dict[str, float] = {}
        self._traces: dict[str, TraceFollower] = {}
        self._over = threading.Event()

    @property
    def live(self) -> bool:
        """Whether the terminal is taken by a display: nobody else may write there."""
        return self._mode == "live"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """See what is possible, as long as nothing is captured and before workers start."""
        self._mode = choose_mode(self._config, self._config.stash[SETTINGS].progress)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Show progress while the items run."""
        if self._mode is None:  # tasks turned up during collection
            self.pytest_sessionstart()
        screen = self._open_screen()
        if screen is None:
            return (yield)
        show = self._show_live if self._mode == "live" else self._show_plain
        thread = threading.Thread(target=show, args=(screen,), daemon=True)
        thread.start()
        try:
            return (yield)
        finally:
            self._over.set()
            thread.join()
            screen.close()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note that a trial has begun."""
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a trial is over, or its worker."""
        if report.when in ("teardown", "???"):
            self._running.pop(report.nodeid, None)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Leave nothing behind that is of interest no more."""
        remove_activities(self._session)

    def _open_screen(self) -> Screen | None:
        if self._mode == "none":
            return None
        try:
            return Screen(self._config, sys.stdout)
        except (AttributeError, OSError, ValueError):  # pytest writes to no file
            self._mode = "none"
            return None

    def _show_live(self, screen: Screen) -> None:
        color = bool(self._config.get_terminal_writer().hasmarkup)
        while not self._over.wait(_REFRESH):
            if self._running and self._plan:
                size = screen.size
                height = max(2, min(size.lines - 3, 12 + len(self._running)))
                screen.paint(render_overview(self.look(), size.columns - 1, height, color=color))

    def _show_plain(self, screen: Screen) -> None:
        shared = self._config.getoption("capture", "no") == "no"
        while not self._over.wait(self._config.stash[SETTINGS].interval):
            if self._running and self._plan:
                screen.insert(self.look().lines(), anew=shared)

    @property
    def _plan(self) -> Mapping[str, Planned]:
        self._planned = self._planned or read_planned(self._session)
        return self._planned

    def look(self) -> Overview:
        """Give what the session is at now."""
        now, plan, results = time.monotonic(), self._plan, list(self._collector.results)
        activities = {activity.nodeid: activity for activity in read_activities(self._session)}
        running = []
        for nodeid, begun in self._running.copy().items():
            if nodeid not in plan:
                continue
            activity, trace = activities.get(nodeid), None
            if activity is not None:
                file = Path(activity.folder) / TRACE
                trace = self._traces.setdefault(
                    activity.folder, TraceFollower(file, activity.metric)
                )
                trace.follow()
            seconds = now - (begun if activity is None else activity.since)
            running.append(Running(plan[nodeid].identity, seconds, activity, trace))
        usage = sum((result.usage for result in results), Usage())
        usage = sum((each.trace.usage for each in running if each.trace is not None), usage)
        not_run = self._collector.not_run
        return Overview(
            done=len(plan) - len(not_run),
            planned=len(plan),
            successes=sum(result.success for result in results),
            usage=usage,
            left=self._estimate(not_run, running),
            running=running,
        )

    def _estimate(self, not_run: Sequence[str], running: Sequence[Running]) -> float | None:
        expected = {
            nodeid: (self._expectations.of(self._plan[nodeid]), self._plan[nodeid].need.demand)
            for nodeid in not_run
        }
        if all(seconds is None for seconds, _ in expected.values()):
            return None
        jobs = make_jobs(expected, self._machine)
        hands: list[list[Job]] = []
        for each in running:
            job = jobs.pop(each.identity.nodeid, None)
            if job is not None:
                hands.append([job.after(each.seconds)] if each.acts else [Job(0.0), job])
        workers = self._config.getoption("numprocesses", None) or 1
        hands += [[] for _ in range(workers - len(hands))]
        pending = sorted(jobs.values(), key=lambda job: -job.seconds)
        return estimate_seconds(dict(enumerate(hands)), pending, self._machine)


def choose_mode(config: pytest.Config, wanted: str) -> Mode:
    """Give the mode that is possible: nothing with ``-qq``, and a live display on terminals only.

    A live display and what tests print under ``-s`` would write over each other.
    """
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if wanted == "none" or reporter is None or config.getoption("usepdb", False):
        return "none"
    if wanted == "auto" and config.getoption("verbose") <= -2:
        return "none"
    capable = (
        sys.stdout.isatty()
        and os.environ.get("TERM", "dumb") != "dumb"
        and config.getoption("capture", "no") != "no"
    )
    if wanted == "plain" or not capable or (wanted == "auto" and "CI" in os.environ):
        return "plain"
    return "live"
