"""A report's tables as plain text and as Markdown."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from pytest_mlab.reporting.table import Table
from pytest_mlab.reporting.visible import make_visible

WIDTH = 79
"""Of text: a table that is wider is parted into several, its first column in each."""


def render_text(tables: Iterable[Table]) -> str:
    """Give tables as text in aligned columns, names to the left and figures to the right."""
    return "\n\n".join("\n".join(_text_lines(table)) for table in tables) + "\n"


def render_markdown(tables: Iterable[Table]) -> str:
    """Give tables as Markdown, as pull requests and job summaries on GitHub show it.

    Names of tasks, agents and LLMs are anything but Markdown: what has a meaning there is
    escaped.
    """
    return "\n\n".join("\n".join(_markdown_lines(table)) for table in tables) + "\n"


def _text_lines(table: Table) -> list[str]:
    grid = [tuple(map(_flatten, row)) for row in (table.columns, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    title = _flatten(table.title)
    lines = [title, "=" * len(title)]
    for number, columns in enumerate(_break_columns(widths)):
        lines += [""] if number else []
        for row in grid:
            cells = [row[column].rjust(widths[column]) for column in columns]
            lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return lines + [line for note in table.notes for line in textwrap.wrap(_flatten(note), WIDTH)]


def _break_columns(widths: Sequence[int]) -> list[list[int]]:
    """Part the columns after the first into blocks, each as wide as fits with the first."""
    blocks: list[list[int]] = [[]]
    room = WIDTH - widths[0]
    for column, width in enumerate(widths[1:], start=1):
        if blocks[-1] and width + 2 > room:
            blocks.append([])
            room = WIDTH - widths[0]
        blocks[-1].append(column)
        room -= width + 2
    return blocks


def _flatten(text: str) -> str:
    return " ".join(make_visible(text).split())


def _markdown_lines(table: Table) -> list[str]:
    alignment = [":--", *("--:" for _ in table.columns[1:])]
    lines = [f"### {_escape(table.title)}", "", _markdown_row(table.columns)]
    lines += [f"| {' | '.join(alignment)} |", *map(_markdown_row, table.rows)]
    for note in table.notes:
        lines += ["", f"<sub>{_escape(note)}</sub>"]
    return lines


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escape, cells))} |"


def _escape(text: str) -> str:
    text = _flatten(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~@])", r"\\\1", text)
