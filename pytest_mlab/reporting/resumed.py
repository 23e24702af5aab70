"""What a session that resumes another says of it: what was taken over, and why the rest was not."""

from collections import Counter
from pathlib import Path

import pytest


class ResumeReporter:
    """Gathers from the reports what became of each trial; registered in the controller."""

    def __init__(self, resumed: Path) -> None:
        self._resumed = resumed
        self._notes: Counter[str] = Counter()

    def pytest_report_header(self) -> str:
        """Name the session."""
        return f"mlab: resumes {self._resumed}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what became of a trial."""
        note: str | None = getattr(report, "mlab_resume", None)
        if note is not None:
            self._notes[note] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        """Say how many trials were taken over, and on one line for each reason why others not."""
        terminalreporter.write_sep("=", f"resumed {self._resumed.name}")
        for note, count in self._notes.most_common():
            trials = "1 trial" if count == 1 else f"{count} trials"
            terminalreporter.write_line(f"{trials}: {note}")
