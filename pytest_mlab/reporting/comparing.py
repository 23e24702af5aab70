"""Two sets of trials compared, as tables: better or worse, task by task."""

from collections.abc import Iterator

from pytest_mlab.comparison import Comparison, Counts, compare, smallest_drop, trials_needed
from pytest_mlab.exceptions import UsageError
from pytest_mlab.reporting.formats import format_interval
from pytest_mlab.reporting.summary import Row, Summary
from pytest_mlab.reporting.table import Table

COMPARED = (
    "Exact conditional test (Fisher's, stratified by task), two-sided; the p-values of single "
    "tasks are corrected for their number (Holm). The difference is in points of per cent, its "
    "95 % interval is for these tasks."
)


def comparison_tables(before: Summary, after: Summary) -> Iterator[Table]:
    """Compare each agent and LLM with itself, or the only one of each side with the other.

    `UsageError` where they have none in common.
    """
    pairs = _pair_subjects(before, after)
    for first, second in pairs:
        comparison = compare(_counts_by_task(before, first), _counts_by_task(after, second))
        rows = [
            (
                task.task,
                _show_counts(task.before),
                _show_counts(task.after),
                _show_difference(_rate(task.after) - _rate(task.before)),
                _show_p(task.adjusted),
            )
            for task in comparison.tasks
        ]
        difference = _show_difference(comparison.difference)
        interval = format_interval(comparison.interval, "+z.0f")
        rows.append(
            ("average of tasks", "", "", f"{difference} {interval}", _show_p(comparison.p_value))
        )
        yield Table(
            f"{second.subject} against {first.subject}",
            ("task", "before", "after", "difference", "p"),
            tuple(rows),
            (COMPARED, *_say_power(comparison), *_unpaired(comparison)),
        )


def _pair_subjects(before: Summary, after: Summary) -> list[tuple[Row, Row]]:
    if len(before.subjects) == len(after.subjects) == 1:
        return [(before.subjects[0], after.subjects[0])]
    firsts = {row.subject: row for row in before.subjects}
    pairs = [(firsts[row.subject], row) for row in after.subjects if row.subject in firsts]
    if not pairs:
        raise UsageError("the results to compare have no agent and LLM in common")
    return pairs


def _unpaired(comparison: Comparison) -> list[str]:
    names = ", ".join(comparison.unpaired)
    return [f"Only in one of the two, and left out: {names}."] if names else []


def _say_power(comparison: Comparison) -> Iterator[str]:
    """Say which drop so many trials could show, and how many would show the difference seen."""
    before = [
        sum(counts) for counts in zip(*(task.before for task in comparison.tasks), strict=True)
    ]
    after = [sum(counts) for counts in zip(*(task.after for task in comparison.tasks), strict=True)]
    rates = before[0] / before[1], after[0] / after[1]
    drop = smallest_drop(rates[0], min(before[1], after[1]))
    if drop is not None:
        yield f"So many trials show a drop by {drop * 100:.0f} points 4 times in 5."
    if rates[0] != rates[1]:
        yield (
            f"To show a difference as large as this one 4 times in 5, {trials_needed(*rates):,} "
            "trials on each side would do, all tasks together."
        )


def _counts_by_task(summary: Summary, subject: Row) -> dict[str, Counts]:
    return {row.task: _counts(row) for row in summary.rows_of(subject) if row.task is not None}


def _counts(row: Row) -> Counts:
    return row.tally.successes, row.tally.trials


def _rate(counts: Counts) -> float:
    successes, trials = counts
    return successes / trials


def _show_counts(counts: Counts) -> str:
    return "{}/{}".format(*counts)


def _show_difference(difference: float) -> str:
    return f"{difference * 100:+.0f}"


def _show_p(p_value: float) -> str:
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"
