"""The tables of a report: what was tried, how often it worked, and whether it got better."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean

from pytest_mlab.reporting.comparing import comparison_tables
from pytest_mlab.reporting.failures import failure_table
from pytest_mlab.reporting.formats import (
    NOTHING,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_rate,
    format_seconds,
)
from pytest_mlab.reporting.published import add_published
from pytest_mlab.reporting.reading import Session
from pytest_mlab.reporting.summary import Row, Summary, summarise
from pytest_mlab.reporting.table import Table
from pytest_mlab.reporting.tries import tries_tables
from pytest_mlab.reporting.verdicts import verdict_table
from pytest_mlab.results import STATUSES, Result, format_improvement
from pytest_mlab.statistics import average_mean, average_rate, bootstrap_interval

AVERAGE = "average of tasks"

RATES = (
    "Successes/trials, and the rate with its 95 % interval (Wilson). The average gives each task "
    "the same weight, and its interval takes these tasks for a sample of others."
)
IMPROVEMENTS = (
    "Over the baseline, of valid trials only, with its 95 % interval (bootstrap-t) and how many "
    "they are (n); no interval or an infinite end means that they are too few to tell. The average "
    "gives each task with a valid trial the same weight, its interval takes these for a sample."
)
FLAGGED = "These trials are counted as they are; somebody should look at their records."


def make_report(
    sessions: Sequence[Session], against: Sequence[Session] = (), *, published: bool = False
) -> list[Table]:
    """Make the tables of some sessions; with others to compare them against, that table first.

    ``published`` puts the paper's figures beside those measured.
    """
    results = [result for session in sessions for result in session.results]
    skips = [skip for session in sessions for skip in session.skips]
    summary = summarise(results, skips)
    tables = [
        *_gate_tables(sessions),
        _success_table(summary, _cautions(sessions, results)),
        _improvement_table(summary, results),
        *tries_tables(summary),
        _status_table(summary),
        failure_table(results),
        _cost_table(summary),
        *_flag_tables(results),
    ]
    if published:
        tables = add_published(tables)
    if against:
        before = [result for session in against for result in session.results]
        tables[:0] = comparison_tables(summarise(before), summary)
    return tables


def _gate_tables(sessions: Sequence[Session]) -> Iterator[Table]:
    for session in sessions:
        if session.verdict is not None:
            yield verdict_table(session.verdict, session.name if len(sessions) > 1 else None)


def _success_table(summary: Summary, notes: Iterable[str]) -> Table:
    def cell(row: Row) -> str:
        return f"{row.tally.successes}/{row.tally.trials} {format_rate(row.tally)}"

    table = _by_task("Success rate", summary, cell)
    rows = list(table.rows)
    if len(rows) > 1:
        rows.append((AVERAGE, *(_average(summary, subject) for subject in summary.subjects)))
    return Table(table.title, table.columns, tuple(rows), (RATES, *notes))


def _average(summary: Summary, subject: Row) -> str:
    rows = summary.rows_of(subject)
    counts = [(row.tally.successes, row.tally.trials) for row in rows if row.task is not None]
    if not counts:
        return NOTHING
    rate, interval = average_rate(counts)
    return f"{format_percent(rate)} {format_interval(interval)}"


def _improvement_table(summary: Summary, results: Sequence[Result]) -> Table:
    improvements: dict[tuple[str, str | None, str | None], list[float]] = {}
    for result in results:
        if result.improvement is not None:
            key = result.agent, result.llm, result.task
            improvements.setdefault(key, []).append(result.improvement)

    def cell(row: Row) -> str:
        values = improvements.get((row.agent, row.llm, row.task), [])
        if not values:
            return NOTHING
        interval = bootstrap_interval(values)
        parts = [format_improvement(fmean(values)), f"n={len(values)}"]
        if any(map(math.isfinite, interval)):
            parts.insert(1, format_interval(interval, "+z.0f"))
        return " ".join(parts)

    def average(subject: Row) -> str:
        keys = ((row.agent, row.llm, row.task) for row in summary.rows_of(subject) if row.task)
        groups = [improvements[key] for key in keys if key in improvements]
        if len(groups) < 2:
            return NOTHING
        mean, interval = average_mean(groups)
        return f"{format_improvement(mean)} {format_interval(interval, '+z.0f')}"

    table = _by_task("Mean improvement", summary, cell)
    averages = [average(subject) for subject in summary.subjects if subject.tally.trials]
    rows = list(table.rows)
    if any(shown != NOTHING for shown in averages):
        rows.append((AVERAGE, *averages))
    return Table(table.title, table.columns, tuple(rows), (IMPROVEMENTS,))


def _status_table(summary: Summary) -> Table:
    rows = [
        (row.subject, *(str(row.tally.statuses[status]) for status in STATUSES))
        for row in summary.subjects
    ]
    return Table("What became of the trials", ("agent", *STATUSES), tuple(rows))


def _flag_tables(results: Sequence[Result]) -> Iterator[Table]:
    rows = [
        (f"{result.task} · {result.subject} · trial {result.trial}", flag)
        for result in results
        for flag in result.flags
    ]
    if rows:
        yield Table("Flagged for review", ("trial", "evidence"), tuple(rows), (FLAGGED,))


def _cost_table(summary: Summary) -> Table:
    rows = [
        (
            row.subject,
            format_number(row.tally.mean_steps, ".1f"),
            format_seconds(row.tally.mean_seconds),
            f"{row.tally.usage.tokens:,}",
            f"{row.tally.usage.cost_usd:.2f}",
        )
        for row in summary.subjects
    ]
    columns = ("agent", "steps/trial", "time/trial", "tokens", "USD")
    return Table("What it took", columns, tuple(rows))


def _cautions(sessions: Sequence[Session], results: Sequence[Result]) -> list[str]:
    cautions = []
    skipped = sum(len(session.skips) for session in sessions)
    unfinished = sum(session.unfinished for session in sessions)
    if skipped:
        cautions.append(f"Not counted: {format_count(skipped, 'skipped trial')}.")
    if unfinished:
        cautions.append(
            f"Not counted: {format_count(unfinished, 'planned trial')} without a result (not run, "
            "or cut short)."
        )
    return cautions + _mixtures(results)


def _mixtures(results: Iterable[Result]) -> list[str]:
    digests: dict[str, set[str]] = {}
    thresholds = set()
    for result in results:
        digests.setdefault(result.task, set()).add(result.task_digest)
        thresholds.add(result.threshold)
    mixed = ", ".join(sorted(task for task, found in digests.items() if len(found) > 1))
    cautions = [f"Caution: trials on different versions of a task: {mixed}."] if mixed else []
    if len(thresholds) > 1:
        shown = ", ".join(f"{threshold:.0%}" for threshold in sorted(thresholds))
        cautions.append(f"Caution: success was judged by different thresholds: {shown}.")
    return cautions


def _by_task(title: str, summary: Summary, cell: Callable[[Row], str]) -> Table:
    subjects = [subject for subject in summary.subjects if subject.tally.trials]
    cells = {(row.task, row.agent, row.llm): cell(row) for row in summary.rows if row.tally.trials}
    tasks = sorted({row.task or "" for row in summary.rows if row.tally.trials})
    rows = [
        (task, *(cells.get((task, each.agent, each.llm), NOTHING) for each in subjects))
        for task in tasks
    ]
    return Table(title, ("task", *(each.subject for each in subjects)), tuple(rows))
