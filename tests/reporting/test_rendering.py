"""Tables as text and as Markdown; nothing in a name is taken for Markdown."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pytest_mlab.reporting.rendering import render_markdown, render_text
from pytest_mlab.reporting.table import Table

TABLE = Table(
    "Success rate",
    ("task", "hillclimb", "research · gpt-4"),
    (("digits", "3/8 38 % [14, 69]", "–"), ("wine", "0/8 0 % [0, 32]", "1/1 100 % [21, 100]")),
    ("How to read it.",),
)


def test_text_is_aligned() -> None:
    assert render_text([TABLE]).splitlines() == [
        "Success rate",
        "============",
        "task            hillclimb     research · gpt-4",
        "digits  3/8 38 % [14, 69]                    –",
        "wine      0/8 0 % [0, 32]  1/1 100 % [21, 100]",
        "How to read it.",
    ]


def test_text_that_is_too_wide_for_a_terminal_is_parted() -> None:
    agents = tuple(f"research · gpt-{number}" for number in range(9))
    table = Table("Success rate", ("task", *agents), (("digits", *("3/8 38 % [14, 69]",) * 9),))

    lines = render_text([table]).splitlines()

    assert max(map(len, lines)) < 80
    assert [line.partition(" ")[0] for line in lines[2:]] == ["task", "digits", ""] * 2 + [
        "task",
        "digits",
    ]
    assert sum(line.count("3/8") for line in lines) == 9
    assert [name for name in agents if render_text([table]).count(name) != 1] == []


def test_markdown_is_a_table() -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(render_markdown([TABLE]))

    assert "<h3>Success rate</h3>" in html
    assert html.count("<tr>") == 3
    assert '<td style="text-align:right">3/8 38 % [14, 69]</td>' in html


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1))
def test_a_name_is_never_taken_for_markdown(name: str) -> None:
    table = Table("Rates", ("task", "agent"), ((f"x{name}", "1/1"),))

    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(render_markdown([table]))

    (cell,) = [token for token in tokens if token.content.startswith("x")]
    children = cell.children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == f"x{name}"


def test_markup_in_a_name_is_shown_as_it_is() -> None:
    name = "<img src=x onerror=alert(1)> ![](http://x/y.png) | a *b* `c`\n# d"

    html = MarkdownIt("gfm-like", {"linkify": False}).render(
        render_markdown([Table("T", ("task",), ((name,),))])
    )

    assert "<img" not in html
    assert html.count("<h") == 1
    assert html.count("<td") == 1


@pytest.mark.parametrize("render", [render_text, render_markdown])
def test_names_neither_steer_a_terminal_nor_break_the_output(
    render: Callable[[list[Table]], str],
) -> None:
    name = "a\x1b[2J\nb\ud800\u202e"

    text = render([Table("Title", ("task", name), ((name, "1"),))])

    text.encode("utf-8")
    assert not set(text) & {"\x1b", "\u202e"}
    assert "a b⟨U+D800⟩⟨U+202E⟩" in text
