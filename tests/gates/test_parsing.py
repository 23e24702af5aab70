"""What ``--mlab-gate`` takes, and what it says of anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.exceptions import UsageError
from pytest_mlab.gates import ComparisonGate, RateGate, parse_gate


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("each", None),
        ("rate>=0.375", RateGate("rate>=0.375", 0.375)),
        ("rate >= 37.5 %", RateGate("rate >= 37.5 %", 0.375)),
        ("rate>=.5,per-task", RateGate("rate>=.5,per-task", 0.5, per_task=True)),
        ("rate>=1,point", RateGate("rate>=1,point", 1.0, by_point=True)),
        (
            "rate>=50%, point, per-task",
            RateGate("rate>=50%, point, per-task", 0.5, per_task=True, by_point=True),
        ),
        ("no-worse-than=a b,c.json", ComparisonGate("no-worse-than=a b,c.json", "a b,c.json")),
    ],
)
def test_gates_are_read(text: str, gate: object) -> None:
    assert parse_gate(text) == gate


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("rate", "put it in quotes"),
        ("rate>0.5", "rate>=0.375"),
        ("rate>=", "rate>=0.375"),
        ("rate>=0.5,pertask", "per-task"),
        ("rate>=0.5,point,point", "point"),
        ("rate>=0", "above 0"),
        ("rate>=1.2", "at most 1"),
        ("rate>=40", "at most 1, or 100%"),
        ("rate>=100%", "rate>=1,point"),
        ("no-worse-than=", "no-worse-than=results.json"),
        ("better-than=x.json", "no-worse-than=results.json"),
        ("", "each"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=r"^--mlab-gate: ") as refused:
        parse_gate(text)
    assert hint in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text())
def test_no_text_does_anything_but_these_two(text: str) -> None:
    try:
        gate = parse_gate(text)
    except UsageError:
        return
    assert gate is None or gate.text == text.strip()


@given(st.floats(0.001, 0.999), st.booleans(), st.booleans())
def test_every_rate_is_read_as_it_is_written(rate: float, per_task: bool, by_point: bool) -> None:
    words = ",per-task" * per_task + ",point" * by_point
    gate = parse_gate(f"rate>={rate:.17f}{words}")
    assert isinstance(gate, RateGate)
    assert (gate.rate, gate.per_task, gate.by_point) == (float(f"{rate:.17f}"), per_task, by_point)
