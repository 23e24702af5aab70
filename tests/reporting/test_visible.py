"""Text of others is shown as it is, and does nothing."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mlab.reporting.visible import make_visible, shorten_middle


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://a\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\text", "text"),
        ("\x9b2Jclear", "clear"),
        ("\x1bcreset", "reset"),
        ("a\x00b\x08c", "a⟨U+0000⟩b⟨U+0008⟩c"),
        ("user\u202etxt.exe", "user⟨U+202E⟩txt.exe"),
        ("half \ud800 pair", "half ⟨U+D800⟩ pair"),
        ("one\u2028line", "one⟨U+2028⟩line"),
        ("tab\tand\nline\r\nend", "tab\tand\nline\nend"),
        ("10 %\r50 %\r100 %\ndone", "100 %\ndone"),
        ("größe 🤖 日本 עברית", "größe 🤖 日本 עברית"),
        ("👩‍🔬", "👩‍🔬"),
    ],
)
def test_what_is_unseen_is_shown_or_taken_out(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@given(st.text(alphabet=st.characters()))
@example("\x1b")
def test_nothing_is_left_that_acts_or_cannot_be_written(text: str) -> None:
    shown = make_visible(text)

    shown.encode("utf-8")
    controls = [char for char in shown if unicodedata.category(char) == "Cc"]
    assert set(controls) <= {"\t", "\n"}
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028")
    assert make_visible(shown) == shown


@pytest.mark.parametrize("piece", ["\r", "\x1b]", "\x1b[", "a\r", "\x1bP"])
def test_it_takes_no_longer_for_what_is_made_to_take_long(piece: str) -> None:
    start = time.monotonic()
    make_visible(piece * 500_000)
    assert time.monotonic() - start < 5


def test_a_long_text_keeps_head_and_tail() -> None:
    short = shorten_middle("a" * 500 + "b" * 500, 10)

    assert short == "aaaaa\n[… 990 characters left out …]\nbbbbb"
    assert shorten_middle("abc", 3) == "abc"
