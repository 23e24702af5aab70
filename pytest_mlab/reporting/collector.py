"""The controller's plugin that gathers results, shows them and writes them down."""

import dataclasses
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.reporting.document import make_document, write_document
from pytest_mlab.reporting.journal import Journal
from pytest_mlab.reporting.junit import JUnitFile
from pytest_mlab.reporting.summary import Skip, Summary, summarise
from pytest_mlab.reporting.terminal import live_line, table_lines, total_lines
from pytest_mlab.results import ERRORS, Identity, Result

TeststatusWord = str | tuple[str, dict[str, bool]]


class ResultCollector:
    """Gathers the trials' results in order of arrival; registered where no tests run remotely.

    A report carries its trial's result as JSON in ``report.mlab_result``, which travels from
    xdist's workers. A trial whose worker crashed has no such report: it is found by its node id
    through ``find_identity`` (None for any other test), and counts as a harness error.
    """

    def __init__(
        self,
        config: pytest.Config,
        find_identity: Callable[[str], Identity | None],
        json_path: Path | None = None,
    ) -> None:
        self.results: list[Result] = []
        self.skips: list[Skip] = []
        self._config = config
        self._find_identity = find_identity
        self._json_path = json_path
        self._json_error: OSError | None = None
        self._journal: Journal | None = None
        self._collected: Sequence[str] = ()
        self._finished: set[str] = set()
        self._started: dict[str, float] = {}

    @property
    def not_run(self) -> list[str]:
        """The node ids of trials that were collected and then never came to an end."""
        left = (nodeid for nodeid in self._collected if nodeid not in self._finished)
        return [nodeid for nodeid in left if self._find_identity(nodeid) is not None]

    def pytest_sessionstart(self) -> None:
        """Refuse a path that cannot be written to before anything is spent."""
        if self._json_path is None:
            return
        try:
            self._json_path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(f"--mlab-json {self._json_path}: {error}") from None
        if self._json_path.is_dir():
            raise pytest.UsageError(f"--mlab-json {self._json_path}: is a folder; name a file")
        if self._json_path.is_file() or not self._json_path.exists():
            self._journal = Journal(self._json_path)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember what is to run, to say at the end what did not."""
        self._collected = [item.nodeid for item in session.items]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Remember what is to run where xdist's workers collect it."""
        self._collected = ids

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the time, which is all that is known of a trial whose worker crashes."""
        self._started[nodeid] = time.monotonic()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Take in a trial's result, and show it after pytest has shown the test."""
        crashed = report.when not in ("setup", "call", "teardown")
        result = self._take(report)
        yield
        if result is not None:
            self.results.append(result)
            if self._journal is not None:
                self._journal.append(result)
            if crashed:
                JUnitFile(self._config).describe_case(report, result)
            if self._shows_live_lines:
                self._write_live_line(result)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> Generator[None, tuple[str, str, TeststatusWord], tuple[str, str, TeststatusWord]]:
        """Leave out pytest's letter where a line says more; a crashed worker is an error."""
        category, letter, word = yield
        record = getattr(report, "mlab_result", None)
        if record is None:
            return category, letter, word
        if report.when == "???" and Result.from_json(record).status in ERRORS:
            category, letter, word = "error", "E", "ERROR"
        return category, "" if self._shows_live_lines else letter, word

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the results down, before pytest writes its JUnit file."""
        summary, not_run = self._summary(), self.not_run
        JUnitFile(self._config).describe_suite(summary, len(not_run))
        if self._json_path is not None:
            document = make_document(self.results, self.skips, not_run, summary)
            try:
                write_document(self._json_path, document)
            except OSError as error:
                self._json_error = error
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
            else:
                if self._journal is not None:
                    self._journal.discard()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, None, None]:
        """Show the table last, where it stays on the screen."""
        yield
        summary, not_run = self._summary(), self.not_run
        if not (self.results or self.skips or not_run):
            return
        terminalreporter.write_sep("=", "ML agent benchmark", bold=True)
        width = self._config.get_terminal_writer().fullwidth
        for line in table_lines(summary, width):
            terminalreporter.write_line(line)
        for line in self._skip_lines():
            terminalreporter.write_line(line, yellow=True)
        for line in total_lines(summary, len(not_run), width):
            terminalreporter.write_line(line, bold=True)
        if self._json_error is not None:
            terminalreporter.write_line(f"results not written: {self._json_error}", red=True)
            if self._journal is not None and self._journal.path is not None:
                terminalreporter.write_line(f"what was saved on the way: {self._journal.path}")
        elif self._json_path is not None:
            terminalreporter.write_line(f"results: {self._json_path}")

    @property
    def _shows_live_lines(self) -> bool:
        return self._config.get_verbosity() >= -1

    def _summary(self) -> Summary:
        return summarise(self.results, self.skips)

    def _take(self, report: pytest.TestReport) -> Result | None:
        nodeid = report.nodeid
        if report.when == "teardown" or (report.when == "setup" and report.passed):
            return None
        again = nodeid in self._finished
        self._finished.add(nodeid)
        record: str | None = getattr(report, "mlab_result", None)
        if record is not None:
            return Result.from_json(record)
        if again or report.passed:
            return None
        identity = self._find_identity(nodeid)
        if identity is None:
            return None
        if report.skipped:
            self.skips.append(Skip(identity, _skip_reason(report)))
            return None
        result = Result(
            **dataclasses.asdict(identity),
            status="harness-error",
            stop="crashed",
            seconds=time.monotonic() - self._started.get(nodeid, time.monotonic()),
            detail=_failure(report),
        )
        report.mlab_result = result.to_json()  # type: ignore[attr-defined]
        return result

    def _skip_lines(self) -> list[str]:
        counts: dict[tuple[str, str], int] = {}
        for skip in self.skips:
            key = skip.identity.task, skip.reason
            counts[key] = counts.get(key, 0) + 1
        return [f"skipped {task} ({count}): {reason}" for (task, reason), count in counts.items()]

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
            writer.line()


def _failure(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text: str = crash.message if crash else str(report.longrepr).partition(" while running")[0]
    return text.strip().partition("\n")[0]


def _skip_reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(report.longrepr or "").strip()
