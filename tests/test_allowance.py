"""What ``--mlab-budget`` takes, and what it says of anything else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.allowance import Allowance, parse_allowance
from pytest_mlab.exceptions import UsageError


@pytest.mark.parametrize(
    ("text", "allowance"),
    [
        ("5", Allowance(usd=5)),
        ("0.5usd", Allowance(usd=0.5)),
        ("2Mtok", Allowance(tokens=2e6)),
        ("500ktok", Allowance(tokens=5e5)),
        ("800 tok", Allowance(tokens=800)),
        ("8gpuh", Allowance(gpu_hours=8)),
        ("90min", Allowance(hours=1.5)),
        ("1d", Allowance(hours=24)),
        ("5usd,2Mtok,8gpuh,3h", Allowance(5, 2e6, 8, 3)),
        ("3h, 5", Allowance(usd=5, hours=3)),
    ],
)
def test_amounts_are_read(text: str, allowance: Allowance) -> None:
    assert parse_allowance(text) == allowance


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("much", "5usd,2Mtok,8gpuh,3h"),
        ("5eur", "5usd,2Mtok,8gpuh,3h"),
        ("5,6", "5usd,2Mtok,8gpuh,3h"),
        ("-1", "5usd,2Mtok,8gpuh,3h"),
        ("nan", "5usd,2Mtok,8gpuh,3h"),
        ("", "5usd,2Mtok,8gpuh,3h"),
        ("0", '"0" is not above 0'),
        ("5usd,0h", '"0h" is not above 0'),
    ],
)
def test_anything_else_is_refused_with_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=r"^--mlab-budget: ") as refused:
        parse_allowance(text)
    assert hint in str(refused.value)


@given(st.text())
def test_no_text_does_anything_but_these_two(text: str) -> None:
    try:
        allowance = parse_allowance(text)
    except UsageError:
        return
    limits = vars(allowance).values()
    assert all(limit > 0 for limit in limits)
    assert any(limit < math.inf for limit in limits)
