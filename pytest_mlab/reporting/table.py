"""A table of a report: cells of text, rendered as text, Markdown or HTML."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells to show, the first column being names; ``notes`` say how to read them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
