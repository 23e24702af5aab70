"""A report's tables as plain text and as Markdown."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from pytest_mlab.reporting.table import Table
from pytest_mlab.reporting.visible import make_visible

NOTE_WIDTH = 79


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
    for name, *figures in grid:
        cells = [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
        lines.append("  ".join([name.ljust(widths[0]), *cells]).rstrip())
    return lines + [
        line for note in table.notes for line in textwrap.wrap(_flatten(note), NOTE_WIDTH)
    ]


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
