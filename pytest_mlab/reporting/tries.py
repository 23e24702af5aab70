"""Success in one of several tries, and in all of them: pass@k and pass^k."""

from collections.abc import Iterator
from statistics import fmean

from pytest_mlab.reporting.formats import NOTHING, format_percent
from pytest_mlab.reporting.summary import Row, Summary
from pytest_mlab.reporting.table import Table
from pytest_mlab.statistics import pass_at_k, pass_hat_k

TRIES = (
    "pass@k: at least one of k trials of a task succeeds; pass^k: all of them do. Estimated from "
    "all trials of each task, then averaged over the tasks; shown where each task has k trials."
)


def tries_tables(summary: Summary) -> Iterator[Table]:
    """Give the table for k = 2, 4, 8, …, where some agent has two trials of every task."""
    tasks = {
        subject.subject: [row for row in summary.rows_of(subject) if row.task is not None]
        for subject in summary.subjects
        if subject.tally.trials
    }
    fewest = {name: min(row.tally.trials for row in rows) for name, rows in tasks.items()}
    most = max(fewest.values(), default=0)
    numbers = [2**power for power in range(1, most.bit_length()) if 2**power <= most]
    if not numbers:
        return
    rows = [
        (name, *(_estimate(sign, rows, k, fewest[name]) for k in numbers for sign in "@^"))
        for name, rows in tasks.items()
    ]
    columns = (f"pass{sign}{k}" for k in numbers for sign in "@^")
    yield Table("Success in k tries", ("agent", *columns), tuple(rows), (TRIES,))


def _estimate(sign: str, rows: list[Row], k: int, fewest: int) -> str:
    if k > fewest:
        return NOTHING
    estimate = pass_at_k if sign == "@" else pass_hat_k
    tallies = [row.tally for row in rows]
    return format_percent(fmean(estimate(each.successes, each.trials, k) for each in tallies))
