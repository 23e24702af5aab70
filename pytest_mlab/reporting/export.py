"""Results as CSV, for spreadsheets and data frames."""

import csv
import dataclasses
import io
from collections.abc import Iterable, Sequence
from typing import Any

from pytest_mlab.reporting.summary import Summary
from pytest_mlab.results import STATUSES, Result


def export_trials(results: Sequence[Result]) -> str:
    """Give one line for each trial, with the keys of the results document as columns."""
    return _write(
        [
            {
                key: value
                for name, given in result.to_dict().items()
                for key, value in _columns(name, given)
            }
            for result in results
        ]
    )


def export_rates(summary: Summary) -> str:
    """Give one line for each task, agent and LLM, with the figures that a report shows."""
    return _write(
        [
            {
                "task": row.task,
                "agent": row.agent,
                "llm": row.llm,
                "trials": row.tally.trials,
                "successes": row.tally.successes,
                "rate": row.tally.rate,
                "rate_low": row.tally.interval[0],
                "rate_high": row.tally.interval[1],
                "mean_improvement": row.tally.mean_improvement,
                **{status: row.tally.statuses[status] for status in STATUSES},
                "skipped": row.tally.skipped,
                "mean_steps": row.tally.mean_steps,
                "mean_seconds": row.tally.mean_seconds,
                **dataclasses.asdict(row.tally.usage),
            }
            for row in summary.rows
        ]
    )


def _columns(name: str, given: Any) -> Iterable[tuple[str, Any]]:
    if name == "usage":
        yield from given.items()
    else:
        yield name, "; ".join(given) if name == "flags" else given


def _write(records: Iterable[dict[str, Any]]) -> str:
    records = list(records)
    if not records:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, records[0], lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows({key: _defuse(value) for key, value in row.items()} for row in records)
    return text.getvalue()


def _defuse(value: object) -> object:
    # a spreadsheet takes text that begins so for a formula, and what an agent caused is in here
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair, if any
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
