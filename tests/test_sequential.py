"""A test that may stop at every look errs no more often than it says, and stops early."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mlab.sequential import enough_successes, spend

ERROR = 0.025


def crosses(outcomes: list[int], sizes: list[int], bounds: list[int]) -> int | None:
    """Give the look at which there are enough successes, None where there never are."""
    for number, (size, bound) in enumerate(zip(sizes, bounds, strict=True), start=1):
        if sum(outcomes[:size]) >= bound:
            return number
    return None


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda each: sum(each) <= 10),
    st.floats(0.05, 0.95),
    st.sampled_from([0.025, 0.1, 0.3]),
)
def test_over_all_outcomes_the_error_is_within_what_is_allowed(
    rounds: list[int], rate: float, error: float
) -> None:
    """By counting every sequence of outcomes there is, each with its probability."""
    sizes = list(itertools.accumulate(rounds))
    bounds = enough_successes(sizes, rate, error)
    used = [0.0] * (len(sizes) + 1)

    for outcomes in itertools.product((0, 1), repeat=sizes[-1]):
        look = crosses(list(outcomes), sizes, bounds)
        if look is not None:
            chance = rate ** sum(outcomes) * (1 - rate) ** (sizes[-1] - sum(outcomes))
            used[look] += chance

    for look, size in enumerate(sizes, start=1):
        assert sum(used[: look + 1]) <= spend(error, size / sizes[-1]) * (1 + 1e-9)


@pytest.mark.parametrize("rate", [0.1, 0.375, 0.8])
def test_one_look_is_the_exact_binomial_test(rate: float) -> None:
    (bound,) = enough_successes([40], rate, ERROR)

    def tail(least: int) -> float:
        return sum(math.comb(40, k) * rate**k * (1 - rate) ** (40 - k) for k in range(least, 41))

    assert tail(bound) <= ERROR < tail(bound - 1)


@pytest.mark.parametrize(
    ("rates", "goal"),
    [
        ([0.375] * 4, 0.375),
        ([0.3] * 4, 0.375),
        ([0.75, 0.75, 0.0, 0.0], 0.375),  # tasks that differ, whose rate is the goal all the same
        ([1.0, 0.5, 0.0, 0.0], 0.375),
        ([0.8] * 13, 0.8),
        ([1.0] * 10 + [0.4, 0.0, 0.0], 0.8),
    ],
)
def test_simulated_sessions_pass_by_luck_as_seldom_as_is_said(
    rates: list[float], goal: float
) -> None:
    """2,000 sessions of up to 16 rounds, one trial of each task a round, with a fixed seed."""
    generator = random.Random(7)
    sizes = [len(rates) * number for number in range(1, 17)]
    bounds = enough_successes(sizes, goal, ERROR)
    lucky = 0
    for _ in range(2_000):
        outcomes = [int(generator.random() < rate) for _ in sizes for rate in rates]
        lucky += crosses(outcomes, sizes, bounds) is not None

    # three standard errors of so many sessions above what is allowed
    assert lucky / 2_000 <= ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / 2_000)


def test_it_decides_about_as_often_as_one_look_at_the_end_and_long_before_it() -> None:
    """An agent that does 60 % where 37.5 % are asked: 8 rounds of 13 tasks."""
    generator = random.Random(7)
    sizes = [13 * number for number in range(1, 9)]
    bounds = enough_successes(sizes, 0.375, ERROR)
    looks = []
    for _ in range(500):
        outcomes = [int(generator.random() < 0.6) for _ in range(sizes[-1])]
        looks.append(crosses(outcomes, sizes, bounds))
    decided = [look for look in looks if look is not None]

    assert len(decided) / 500 > 0.97
    assert sum(decided) / len(decided) < 4.5  # rounds of 8
