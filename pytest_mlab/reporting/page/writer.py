"""The controller's plugin that leaves a session's HTML page."""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_mlab.files import write_output
from pytest_mlab.reporting.document import check_path
from pytest_mlab.reporting.reading import Session

if TYPE_CHECKING:
    from pytest_mlab.reporting.collector import ResultCollector


class PageWriter:
    """Writes the page of what the collector has gathered to ``path`` when the session ends.

    Registered where no worker of xdist is. Raises `UsageError` where it cannot be written to.
    """

    def __init__(self, collector: "ResultCollector", records: Path, path: Path) -> None:
        check_path("--mlab-html", path)
        self._collector = collector
        self._records = records
        self._path = path
        self._error = ""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the page; results and JUnit file do not depend on whether that succeeds."""
        try:
            write_output(self._path, self._render())
        except Exception as error:
            self._error = f"{type(error).__name__}: {error}"
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: "pytest.TerminalReporter"
    ) -> Generator[None, None, None]:
        """Say where the page is, below where the results are."""
        yield
        if self._error:
            terminalreporter.write_line(f"page not written: {self._error}", red=True)
        else:
            terminalreporter.write_line(f"page: {self._path}")

    def _render(self) -> str:
        from pytest_mlab.reporting.page import render_page
        from pytest_mlab.reporting.report import make_report

        gathered = self._collector
        session = Session(
            self._records.name,
            tuple(gathered.results),
            tuple(gathered.skips),
            len(gathered.not_run),
            self._records,
            gathered.verdict,
        )
        return render_page([session], make_report([session]))
