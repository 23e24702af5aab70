"""Texts too long for one question."""

from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.asking import clean, number, split_text


@given(st.text(), st.integers(1, 20))
def test_a_text_is_cut_into_blocks_without_loss(text: str, size: int) -> None:
    blocks = [block for _, block in split_text(text, size, most=len(text) + 1)]
    assert "".join(blocks) == text
    assert all(len(block) <= size for block in blocks)


@given(st.text(min_size=1), st.integers(1, 5), st.integers(2, 6))
def test_of_too_many_blocks_the_middle_ones_are_left_out(text: str, size: int, most: int) -> None:
    blocks = [block for _, block in split_text(text, size, most)]
    assert len(blocks) <= most
    assert text.startswith(blocks[0])
    assert text.endswith(blocks[-1])


def test_each_block_comes_with_its_place() -> None:
    places = [place for place, _ in split_text("x" * 250_000)]
    assert len(places) == 10
    assert places[0] == "characters 1 to 10,000 of 250,000"
    assert places[4] == (
        "characters 40,001 to 50,000 of 250,000; the next 150,000 characters are left out"
    )
    assert places[-1] == "characters 240,001 to 250,000 of 250,000"


def test_parts_are_numbered() -> None:
    assert number(["a", "b"]) == "Part 1:\na\n\nPart 2:\nb"


@given(st.text(st.characters()))
def test_whatever_a_file_holds_can_be_sent(text: str) -> None:
    clean(text).encode("utf-8")
    assert clean("a\ud800b") == "a?b"
