"""Intervals and estimates agree with SciPy and statsmodels, and cover what they promise."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats  # type: ignore[import-untyped]
import statsmodels.api  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from pytest_mlab.statistics import (
    average_mean,
    average_rate,
    bootstrap_interval,
    pass_at_k,
    pass_hat_k,
    student_t_tail,
    wilson_interval,
)

COUNTS = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20)


@given(COUNTS, st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels(counts: tuple[int, int], confidence: float) -> None:
    expected = proportion_confint(*counts, alpha=1 - confidence, method="wilson")

    assert wilson_interval(*counts, confidence) == pytest.approx(expected, abs=1e-12)


def test_zero_of_eight_is_not_zero() -> None:
    low, high = wilson_interval(0, 8)

    assert low == 0
    assert round(high, 2) == 0.32


def test_without_trials_every_rate_is_possible() -> None:
    assert wilson_interval(0, 0) == (0, 1)


@given(COUNTS)
def test_wilson_holds_the_rate_and_stays_within_bounds(counts: tuple[int, int]) -> None:
    successes, trials = counts
    low, high = wilson_interval(successes, trials)

    assert 0 <= low <= successes / trials <= high <= 1


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 9))
def test_pass_at_k_is_what_every_draw_of_k_gives(trials: list[bool], k: int) -> None:
    if k > len(trials):
        with pytest.raises(ValueError, match=f"number of trials, {len(trials)}"):
            pass_at_k(sum(trials), len(trials), k)
        return
    draws = list(itertools.combinations(trials, k))

    assert pass_at_k(sum(trials), len(trials), k) == pytest.approx(np.mean([*map(any, draws)]))
    assert pass_hat_k(sum(trials), len(trials), k) == pytest.approx(np.mean([*map(all, draws)]))


@given(st.floats(-50, 50), st.integers(1, 60))
def test_students_tail_agrees_with_scipy(t: float, degrees: int) -> None:
    assert student_t_tail(t, degrees) == pytest.approx(scipy.stats.t.sf(t, degrees), abs=1e-12)


@given(VALUES)
def test_the_bootstrap_is_the_same_each_time_and_holds_the_mean(values: list[float]) -> None:
    low, high = bootstrap_interval(values, resamples=500)

    assert (low, high) == bootstrap_interval(values, resamples=500)
    assert low <= np.mean(values) + 1e-6
    assert high >= np.mean(values) - 1e-6


def test_another_seed_draws_other_samples() -> None:
    values = [0.1, 0.3, 0.2, 0.9, 0.4, 0.6]

    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_the_bootstrap_nears_students_interval_for_many_normal_values() -> None:
    values = np.random.default_rng(0).normal(size=400)
    expected = scipy.stats.t.interval(0.95, 399, values.mean(), scipy.stats.sem(values))

    assert bootstrap_interval([*values]) == pytest.approx(expected, abs=0.01)


def test_values_that_are_all_the_same_have_no_spread() -> None:
    assert bootstrap_interval([0.1] * 8) == pytest.approx((0.1, 0.1))


def test_rounding_is_no_spread() -> None:
    """Draws of five values alike but for rounding have an end that cannot be told: infinite."""
    nearly = [0.17, 0.17 + 2**-55, 0.17 - 2**-55]
    assert bootstrap_interval([*nearly, 0.17, 0.17]) == pytest.approx((0.17, 0.17))
    low, high = bootstrap_interval([*nearly, 0.1, 0.15])
    assert all(not math.isfinite(end) or abs(end) < 10 for end in (low, high))


@pytest.mark.parametrize("values", [[], [0.3]])
def test_one_value_says_nothing_about_the_spread(values: list[float]) -> None:
    assert bootstrap_interval(values) == (-math.inf, math.inf)


@pytest.mark.parametrize("size", [5, 8, 16])
@pytest.mark.parametrize("shape", ["normal", "exponential"])
def test_the_bootstrap_covers_the_mean_of_a_few_values(size: int, shape: str) -> None:
    generator = np.random.default_rng(1)
    draw = getattr(generator, shape)
    mean = {"normal": 0.0, "exponential": 1.0}[shape]

    covered = 0
    for _ in range(1000):
        low, high = bootstrap_interval(draw(size=size), resamples=1000)
        covered += low <= mean <= high

    assert covered / 1000 > 0.915


@given(st.lists(st.lists(st.floats(-10, 10), min_size=4, max_size=4), min_size=2, max_size=9))
def test_the_mean_over_tasks_has_the_error_of_clustered_regression(
    groups: list[list[float]],
) -> None:
    mean, (low, high) = average_mean(groups)

    values = np.concatenate(groups)
    labels = np.repeat(np.arange(len(groups)), 4)
    fit = statsmodels.api.OLS(values, np.ones_like(values)).fit(
        cov_type="cluster", cov_kwds={"groups": labels}, use_t=True
    )
    expected = fit.params[0] + np.outer(fit.bse, [-1, 1])[0] * scipy.stats.t.ppf(
        0.975, len(groups) - 1
    )
    assert mean == pytest.approx(fit.params[0], abs=1e-9)
    assert (low, high) == pytest.approx(tuple(expected), abs=1e-6)


def test_one_task_says_nothing_about_other_tasks() -> None:
    assert average_rate([(3, 8)]) == (0.375, (0, 1))
    assert average_mean([[0.25, 0.5]]) == (0.375, (-math.inf, math.inf))


def test_each_task_has_the_same_weight() -> None:
    rate, _ = average_rate([(1, 1), (0, 99)])

    assert rate == 0.5


@given(st.lists(st.integers(0, 8), min_size=2, max_size=13))
def test_the_average_rate_is_never_surer_than_independent_trials_would_be(
    successes: list[int],
) -> None:
    rate, (low, high) = average_rate([(count, 8) for count in successes])
    sure_low, sure_high = wilson_interval(sum(successes), 8 * len(successes))

    assert 0 <= low <= rate <= high <= 1
    assert low <= sure_low + 1e-12
    assert high >= sure_high - 1e-12


def test_tasks_that_differ_make_the_average_less_sure() -> None:
    _, (low, high) = average_rate([(8, 8), (0, 8), (8, 8), (0, 8)])
    _, (same_low, same_high) = average_rate([(4, 8)] * 4)

    assert high - low > 1.4 * (same_high - same_low)


@pytest.mark.parametrize("tasks", [4, 13])
@pytest.mark.parametrize("beta", [(0.5, 0.5), (1, 3), (8, 8)])
def test_the_average_rate_covers_that_of_all_tasks(tasks: int, beta: tuple[float, float]) -> None:
    generator = np.random.default_rng(2)
    truth = beta[0] / sum(beta)

    covered = 0
    for _ in range(2000):
        successes = generator.binomial(8, generator.beta(*beta, size=tasks))
        _, (low, high) = average_rate([(int(count), 8) for count in successes])
        covered += low <= truth <= high

    assert covered / 2000 > 0.935
