"""Figures as people read them."""

import pytest

from pytest_mlab.reporting.formats import (
    format_count,
    format_number,
    format_rate,
    format_seconds,
)
from pytest_mlab.reporting.summary import tally
from tests.reporting.builders import make_results


@pytest.mark.parametrize(
    ("successes", "trials", "text"),
    [
        (3, 8, "38 % [14, 69]"),
        (0, 8, "0 % [0, 32]"),
        (8, 8, "100 % [68, 100]"),
        (1, 250, "<1 % [0, 2]"),
        (249, 250, ">99 % [98, 100]"),
        (0, 0, "–"),
    ],
)
def test_a_rate_comes_with_its_interval(successes: int, trials: int, text: str) -> None:
    assert format_rate(tally(make_results("S" * successes + "B" * (trials - successes)))) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0 s"),
        (9.94, "9.9 s"),
        (9.95, "10 s"),
        (99.4, "99 s"),
        (99.5, "2 min"),
        (3600.0, "60 min"),
        (18000.0, "5.0 h"),
        (None, "–"),
    ],
)
def test_durations_take_the_unit_that_suits_them(seconds: float | None, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9611111, "0.961111"), (16432.0, "16432"), (0.8, "0.8"), (None, "–"), (1e-9, "1e-09")],
)
def test_scores_keep_the_digits_that_matter(value: float | None, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(0, "step", "0 steps"), (1, "step", "1 step"), (2, "success", "2 successes")],
)
def test_one_is_singular(count: int, noun: str, text: str) -> None:
    assert format_count(count, noun) == text
