"""The controller's plugin that gathers results, shows them and writes them down."""

import copy
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mlab.reporting.document import check_path, make_document, write_document
from pytest_mlab.reporting.junit import JUnitFile
from pytest_mlab.reporting.summary import Skip, Summary, summarise
from pytest_mlab.reporting.terminal import (
    gate_lines,
    live_line,
    skip_lines,
    table_lines,
    total_lines,
)
from pytest_mlab.results import ERRORS, Identity, Result

if TYPE_CHECKING:
    from pytest_mlab.gates import Verdict

Outcome = tuple[str, str, str | tuple[str, dict[str, bool]]]


class ResultCollector:
    """Gathers the trials' results in order of arrival; registered where no worker of xdist is.

    A report carries its trial's result as JSON in ``report.mlab_result``, which travels from
    xdist's workers. ``plan`` gives the trials that the session is going to run, by their node ids,
    and is asked after collection: a trial whose worker crashed is found there, and counts as a
    harness error. At the end all results are written to ``records``, the session's own file, and
    to ``json_path`` where one is given. Raises `UsageError` where that cannot be written to.
    """

    def __init__(
        self,
        config: pytest.Config,
        plan: Callable[[], Mapping[str, Identity]],
        records: Path,
        json_path: Path | None = None,
    ) -> None:
        if json_path is not None:
            check_path("--mlab-json", json_path)
        self.verdict: Verdict | None = None
        self.folder = records.parent
        self.results: list[Result] = []
        self.skips: list[Skip] = []
        self._config = config
        self._plan = plan
        self._planned: Mapping[str, Identity] = {}
        self._records = records
        self._json_path = json_path
        self._json_error: Exception | None = None
        self._finished: set[str] = set()
        self._started: dict[str, float] = {}

    @property
    def planned(self) -> Mapping[str, Identity]:
        """The trials that the session is going to run, by their node ids."""
        self._planned = self._planned or self._plan()
        return self._planned

    @property
    def not_run(self) -> list[str]:
        """The node ids of trials that never came to an end: ``-x``, an interrupt."""
        return [nodeid for nodeid in self.planned if nodeid not in self._finished]

    def summarise(self) -> Summary:
        """Count what there is so far."""
        return summarise(self.results, self.skips)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the time, which is all that is known of a trial whose worker crashes."""
        self._started[nodeid] = time.monotonic()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Take in a trial's result, and show it after pytest has shown the test."""
        result = self._take(report)
        yield
        if result is not None:
            self.results.append(result)
            junit = JUnitFile(self._config)
            if _tells_of_a_crash(report):
                junit.describe_case(report, result)
            junit.attach_trace(report, result)
            if hasattr(report, "mlab_missed"):
                self._keep_for_next_time(report)
            if self._shows_live_lines:
                self._write_live_line(result)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> Generator[None, Outcome, Outcome]:
        """Leave out pytest's letter where a line says more; a crashed worker is an error."""
        category, letter, word = yield
        record = getattr(report, "mlab_result", None)
        if record is None:
            return category, letter, word
        if _tells_of_a_crash(report) and Result.from_json(record).status in ERRORS:
            category, letter, word = "error", "E", "ERROR"
        if hasattr(report, "mlab_missed"):
            category, letter, word = "missed", "m", ("MISSED", {"yellow": True})
        return category, "" if self._shows_live_lines else letter, word

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the results down, before pytest writes its JUnit file."""
        if self._config.option.collectonly:
            return
        summary, not_run = self.summarise(), self.not_run
        name = self.folder.name
        document = make_document(
            name, self.results, self.skips, not_run, summary, verdict=self.verdict
        )
        try:
            if summary.rows or not_run:
                junit = JUnitFile(self._config)
                junit.describe_suite(summary, len(not_run))
                if self.verdict is not None:
                    junit.describe_gate(self.verdict)
                write_document(self._records, document)
            # also where there are none: an earlier session's would be taken for this one's
            if self._json_path is not None:
                self._config.hook.pytest_mlab_update_json(config=self._config, document=document)
                write_document(self._json_path, document)
        except (OSError, TypeError, ValueError) as error:  # the disk, or what a hook put into it
            self._json_error = error
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: "pytest.TerminalReporter"
    ) -> Generator[None, None, None]:
        """Show the table last, where it stays on the screen."""
        yield
        summary, not_run = self.summarise(), len(self.not_run)
        if not (summary.rows or not_run):
            return
        terminalreporter.write_sep("=", "ML agent benchmark", bold=True)
        width = self._config.get_terminal_writer().fullwidth
        for line in table_lines(summary, width):
            terminalreporter.write_line(line)
        for line in skip_lines(self.skips):
            terminalreporter.write_line(line, yellow=True)
        for line in total_lines(summary, not_run, width):
            terminalreporter.write_line(line, bold=True)
        if self.verdict is not None:
            color = {"pass": "green", "fail": "red", "undecided": "yellow"}[self.verdict.decision]
            for line in gate_lines(self.verdict, width):
                terminalreporter.write_line(line, **{color: True})
        if self._json_error is not None:
            terminalreporter.write_line(f"results not written: {self._json_error}", red=True)
        else:
            terminalreporter.write_line(f"results: {self._show(self._json_path or self._records)}")

    @property
    def _shows_live_lines(self) -> bool:
        verbosity: int = self._config.getoption("verbose", 0)
        return verbosity >= -1

    def _take(self, report: pytest.TestReport) -> Result | None:
        nodeid = report.nodeid
        if report.when == "teardown" or (report.when == "setup" and report.passed):
            return None
        again = nodeid in self._finished
        self._finished.add(nodeid)
        record: str | None = getattr(report, "mlab_result", None)
        if record is not None:
            return Result.from_json(record)
        if again or report.passed or nodeid not in self.planned:
            return None
        identity = self.planned[nodeid]
        if report.skipped:
            self.skips.append(Skip(identity, _skip_reason(report)))
            return None
        result = Result(
            **vars(identity),
            status="harness-error",
            stop="crashed",
            seconds=time.monotonic() - self._started.get(nodeid, time.monotonic()),
            detail=_failure(report),
        )
        report.mlab_result = result.to_json()  # type: ignore[attr-defined]  # reports take extras
        return result

    def _keep_for_next_time(self, report: pytest.TestReport) -> None:
        """Let ``--lf`` run a missed trial again, as one that failed."""
        plugin: Any = self._config.pluginmanager.get_plugin("lfplugin")
        if plugin is not None:
            failed = copy.copy(report)
            failed.outcome = "failed"
            plugin.pytest_runtest_logreport(failed)

    def _write_live_line(self, result: Result) -> None:
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return
        writer = self._config.get_terminal_writer()
        if writer.width_of_current_line:
            writer.line()
        color = "green" if result.success else "red"
        reporter.write(live_line(result), flush=True, **{color: True})
        if reporter.showfspath or reporter.showlongtestinfo:
            # pytest begins what it writes next with a new line if this is neither None nor the
            # path of a test; a line ended here would leave a blank one
            reporter.currentfspath = -2
        else:
            done = len(self.results) + len(self.skips)
            reporter.write_line(f" [{done}/{len(self.planned)}]", cyan=True)

    def _show(self, path: Path) -> Path:
        folder = self._config.invocation_params.dir
        return path.relative_to(folder) if path.is_relative_to(folder) else path


def _tells_of_a_crash(report: pytest.CollectReport | pytest.TestReport) -> bool:
    # xdist makes this report in the place of a worker that is gone
    return report.when == "???"


def _failure(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text: str = crash.message if crash else str(report.longrepr).partition(" while running")[0]
    return text.strip().partition("\n")[0]


def _skip_reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(report.longrepr or "").strip()
