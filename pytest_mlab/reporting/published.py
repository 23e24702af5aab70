"""What the paper reports, beside what was measured here; the figures are in ``published.json``.

They are Tables 3 and 4 of Huang, Vora, Liang and Leskovec, ICML 2024 (arXiv 2310.03302), in per
cent. The tests hold each column against the average that the paper prints under it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pytest_mlab.exceptions import UsageError
from pytest_mlab.reporting.table import Table

COLUMN = "{} (published)"

CAVEAT = (
    "Published: {citation}; {trials} runs of the paper's own agent. Beside the figures measured "
    "here they are a rough guide only: tasks of these names were mended here, with hidden labels, "
    "larger test sets and other baselines (docs/tasks.md), so that the same agent would score "
    "differently."
)
RATES = (
    'The do-nothing "Baseline" succeeding at 40 and 42.9 % is as printed, and one of the reasons '
    "for the mending; the paper prints 10.4 for its average, and the column's is 6.4."
)
IMPROVEMENTS = (
    "Published improvements of 0.0 can also mean that no run was valid: the authors' plotting "
    "script fills such gaps with 0."
)


@dataclass(frozen=True)
class Published:
    """The paper's tables: a row of per cents for each task, in the order of ``models``."""

    citation: str
    source: str
    trials: int
    models: tuple[str, ...]
    success_rate: dict[str, list[float]]
    success_rate_average: list[float]
    mean_improvement: dict[str, list[float]]
    mean_improvement_average: list[float]


@cache
def read_published() -> Published:
    """Read the figures that come with the package."""
    text = resources.files(__package__).joinpath("published.json").read_text(encoding="utf-8")
    values = json.loads(text)
    return Published(**values | {"models": tuple(values["models"])})


def add_published(tables: Sequence[Table]) -> list[Table]:
    """Give a report's tables with the paper's columns in the two that the paper has.

    `UsageError` where no task that was measured is one of the paper's.
    """
    paper = read_published()
    if not any(row[0] in paper.success_rate for table in tables for row in table.rows):
        names = ", ".join(paper.success_rate)
        raise UsageError(f"none of these tasks is one of the paper's: {names}")
    caveat = CAVEAT.format(citation=paper.citation, trials=paper.trials)
    columns = {
        "Success rate": (paper.success_rate, "{:.1f} %", f"{caveat} {RATES}"),
        "Mean improvement": (paper.mean_improvement, "{:+.1f} %", f"{caveat} {IMPROVEMENTS}"),
    }
    return [
        _extend(table, paper.models, *columns[table.title]) if table.title in columns else table
        for table in tables
    ]


def _extend(
    table: Table,
    models: Sequence[str],
    figures: dict[str, list[float]],
    form: str,
    note: str,
) -> Table:
    gap = [""] * len(models)
    rows = [
        (*row, *([form.format(value) for value in figures[row[0]]] if row[0] in figures else gap))
        for row in table.rows
    ]
    return Table(
        table.title,
        (*table.columns, *map(COLUMN.format, models)),
        tuple(rows),
        (*table.notes, note),
    )
