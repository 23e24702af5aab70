"""What the terminal shows: a line per finished trial, and the table at the end."""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_mlab.gates import Verdict
from pytest_mlab.reporting.formats import (
    format_count,
    format_number,
    format_rate,
    format_seconds,
)
from pytest_mlab.reporting.summary import Row, Skip, Summary
from pytest_mlab.reporting.verdicts import add_remarks
from pytest_mlab.results import Result, format_improvement

TASK_WIDTH = 12
"""Names of tasks are shortened to this many characters, at the least, to make a table fit."""


DETAIL_WIDTH = 100
"""What was wrong is shortened to this many characters in a live line."""


def live_line(result: Result) -> str:
    """Say on one line what came of a trial, right after it."""
    parts = [
        result.status,
        f"{result.task} · {result.subject} · trial {result.trial}",
        _score(result),
        format_count(result.steps, "step"),
        format_seconds(result.seconds),
        f"resumed from {result.resumed}" if result.resumed else "",
        "" if result.valid else _shorten_text(result.detail),
        *(f"flagged: {_shorten_text(flag)}" for flag in result.flags),
    ]
    return "  ".join(part for part in parts if part)


def table_lines(summary: Summary, width: int) -> list[str]:
    """Give the table of agents and tasks; it gives up columns and letters to fit ``width``.

    One block for each agent and LLM, one row for each task, and a row over all tasks where there
    are several. Tasks of which every trial was skipped have no row.
    """
    blocks = [block for block in map(summary.rows_of, summary.subjects) if block]
    longest = max((len(_name(row)) for block in blocks for row in block), default=0)
    for columns in _layouts(summary):
        rest = width - sum(len(_GAP) + column.width for column in columns)
        if rest >= longest:
            break
    names = min(longest, max(rest, TASK_WIDTH))
    return [line for block in blocks for line in _block_lines(block, columns, names)]


def total_lines(summary: Summary, not_run: int, width: int) -> list[str]:
    """Say what came of all trials: successes, rate, what went wrong, time and cost."""
    total = summary.total
    head = f"{format_count(total.trials, 'trial')}: {format_count(total.successes, 'success')}"
    pieces = [f"{head} ({format_rate(total)})" if total.trials else head]
    pieces += [
        f"{count} {name}" for name, count in total.statuses.items() if count and name != "success"
    ]
    pieces += [f"{total.flagged} flagged for review"] if total.flagged else []
    pieces += [f"{total.skipped} skipped"] if total.skipped else []
    pieces += [f"{not_run} not run"] if not_run else []
    pieces += [f"{format_seconds(total.seconds)} of agents' time"]
    pieces += [f"{total.usage.tokens:,} tokens"] if total.usage.tokens else []
    pieces += [f"{total.usage.cost_usd:.2f} USD"] if total.usage.cost_usd else []
    # lines break between the pieces only: a no-break space holds each of them together
    text = ", ".join(piece.replace(" ", "\xa0") for piece in pieces)
    lines = textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def skip_lines(skips: Sequence[Skip]) -> Iterator[str]:
    """Say which tasks' trials were skipped, how many, and why."""
    tasks: dict[str, Counter[str]] = {}
    for skip in skips:
        tasks.setdefault(skip.reason, Counter())[skip.identity.task] += 1
    for reason, counts in tasks.items():
        yield f"skipped {', '.join(sorted(counts))} ({counts.total()}): {reason}"


def gate_lines(verdict: Verdict, width: int) -> Iterator[str]:
    """Say what the gate says of the session and why, and what would help where it says nothing."""
    yield f"gate {verdict.gate}: {verdict.decision.upper()}"
    several = len(verdict.claims) > 1
    for claim, judgement in verdict.claims.items():
        words = f"{judgement.decision} {claim}: " if several else ""
        yield from _wrap(words + judgement.reason, width)
    for remark in add_remarks(verdict):
        yield from _wrap(remark, width)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


@dataclass(frozen=True)
class _Column:
    title: str
    width: int
    cell: Callable[[Row], str]


def _improvement(row: Row) -> str:
    return format_improvement(row.tally.mean_improvement)


def _success(row: Row) -> str:
    return f"{row.tally.successes}/{row.tally.trials}"


_GAP = "  "
_FIRST = [
    _Column("success", 7, _success),
    _Column("rate [95 %]", 15, lambda row: format_rate(row.tally)),
]
_LONG = [
    *_FIRST,
    _Column("improvement", 11, _improvement),
    _Column("invalid", 7, lambda row: str(row.tally.invalid)),
    _Column("errors", 6, lambda row: str(row.tally.errors)),
]
_SHORT = [
    *_FIRST,
    _Column("impr.", 8, _improvement),
    _Column("inv.", 4, lambda row: str(row.tally.invalid)),
    _Column("err.", 4, lambda row: str(row.tally.errors)),
]
_STEPS = _Column("steps", 5, lambda row: format_number(row.tally.mean_steps, ".0f"))
_TIME = _Column("time", 6, lambda row: format_seconds(row.tally.mean_seconds))
_TAMPERED = _Column("tamp.", 5, lambda row: str(row.tally.tampered))


def _layouts(summary: Summary) -> Iterator[tuple[_Column, ...]]:
    """Give the columns from most to least; tampering is rare, and has one only where it occurs."""
    tampered = [_TAMPERED] if summary.total.tampered else []
    yield (*_LONG, *tampered, _STEPS, _TIME)
    yield (*_SHORT, *tampered, _STEPS, _TIME)
    yield (*_SHORT, *tampered, _TIME)
    yield (*_SHORT, *tampered)


def _block_lines(block: Sequence[Row], columns: Sequence[_Column], names: int) -> Iterator[str]:
    yield block[0].subject
    yield _line(" " * names, [column.title for column in columns], columns)
    for row in block:
        cells = [column.cell(row) for column in columns]
        yield _line(_shorten(_name(row), names).ljust(names), cells, columns)


def _name(row: Row) -> str:
    return "all tasks" if row.task is None else row.task


def _line(name: str, cells: Sequence[str], columns: Sequence[_Column]) -> str:
    padded = [cell.rjust(column.width) for cell, column in zip(cells, columns, strict=True)]
    return _GAP.join([name, *padded])


def _shorten(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    head = (width - 1) // 2
    return f"{name[:head]}…{name[head + 1 - width :]}"


def _shorten_text(text: str) -> str:
    return textwrap.shorten(text, DETAIL_WIDTH, placeholder=" …")


def _score(result: Result) -> str:
    if result.score is None or result.baseline is None:
        return ""
    return (
        f"{result.metric} {format_number(result.score)} against "
        f"{format_number(result.baseline)} ({format_improvement(result.improvement)})"
    ).lstrip()
