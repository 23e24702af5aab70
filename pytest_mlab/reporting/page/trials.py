"""Trials as the page shows them: a row to sort by, and the trace to step through."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mlab.reporting.plots import Curve
from pytest_mlab.reporting.reading import Session
from pytest_mlab.reporting.steps import ViewedTrace, read_steps
from pytest_mlab.reporting.visible import make_visible
from pytest_mlab.results import Result

TRACES = 24_000_000
"""How many characters of traces go into a page; what is beyond stays in the records."""


@dataclass(frozen=True)
class ViewedTrial:
    """A trial with its trace, None where that is not at hand; ``left_out`` where it is too much."""

    session: str
    result: Result
    records: Path | None
    trace: ViewedTrace | None
    left_out: bool

    @property
    def title(self) -> str:
        """Which trial it is."""
        return f"{self.result.task} · {self.result.subject} · trial {self.result.trial}"

    @property
    def curve(self) -> Curve:
        """Its best improvement so far, where its steps were scored."""
        points, best = [], 0.0
        for score in self.trace.scores if self.trace else ():
            if score.improvement is not None:
                best = max(best, score.improvement)
                points.append((score.step, best))
        if points:
            points.append((max(self.result.steps, points[-1][0]), best))
        return Curve(self.result.subject, self.title, tuple(points))

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script shows when the trial is opened, as JSON values."""
        said = {
            "title": self.title,
            "detail": "\n".join(filter(None, (self.result.detail, *self.result.flags))),
            "nodeid": self.result.nodeid,
            "records": str(self.records or self.result.folder),
            "problem": self._say_what_is_missing(),
        }
        trace = self.trace or ViewedTrace()
        return {
            **{name: make_visible(text) for name, text in said.items()},
            "steps": [dataclasses.asdict(step) for step in trace.steps],
            "last": dict(trace.last),
        }

    def _say_what_is_missing(self) -> str:
        if self.trace is not None:
            return self.trace.problem
        if self.left_out:
            return "The traces of all trials are too much for one page; this one is in the records."
        return "The trace is not here: make the report where the trial's records are."


def view_trials(sessions: Sequence[Session], most: int = TRACES) -> Iterator[ViewedTrial]:
    """Give every trial with its trace, until all together are ``most`` characters."""
    left = most
    for session in sessions:
        for result in session.results:
            records = session.find_records(result)
            trace = None
            if records is not None and left > 0:
                trace = read_steps(records)
                left -= trace.size
            yield ViewedTrial(session.name, result, records, trace, records is not None)
