"""Two sets of trials are told apart exactly as often by chance as is promised, or less."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]
from statsmodels.stats.proportion import (  # type: ignore[import-untyped]
    confint_proportions_2indep,
)

from pytest_mlab.comparison import (
    Alternative,
    Counts,
    compare,
    exact_test,
    holm,
    rate_difference,
    smallest_drop,
    trials_needed,
)
from pytest_mlab.exceptions import UsageError

Pair = tuple[Counts, Counts]
ALTERNATIVES: list[Alternative] = ["two-sided", "less", "greater"]


def counts(largest: int) -> st.SearchStrategy[Counts]:
    return st.integers(1, largest).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def pairs(largest: int) -> st.SearchStrategy[Pair]:
    return st.tuples(counts(largest), counts(largest))


@given(pairs(40), st.sampled_from(ALTERNATIVES))
def test_on_one_task_it_is_fishers_test(pair: Pair, alternative: Alternative) -> None:
    (first, first_trials), (second, second_trials) = pair
    table = [[second, first], [second_trials - second, first_trials - first]]

    expected = scipy.stats.fisher_exact(table, alternative=alternative).pvalue

    assert exact_test([pair], alternative) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30)
@given(st.lists(pairs(4), min_size=1, max_size=2))
def test_it_is_the_share_of_all_ways_to_deal_trials_to_the_sets(tasks: list[Pair]) -> None:
    dealt = []
    for (first, first_trials), (second, second_trials) in tasks:
        trials = [1] * (first + second)
        trials += [0] * (first_trials + second_trials - len(trials))
        dealt.append([sum(each) for each in itertools.combinations(trials, second_trials)])
    totals = [sum(each) for each in itertools.product(*dealt)]
    seen = sum(second for _, (second, _) in tasks)

    less = np.mean([total <= seen for total in totals])
    greater = np.mean([total >= seen for total in totals])

    assert exact_test(tasks, "less") == pytest.approx(less)
    assert exact_test(tasks, "greater") == pytest.approx(greater)


@given(st.lists(pairs(8), min_size=1, max_size=13))
def test_the_order_of_the_sets_does_not_matter(tasks: list[Pair]) -> None:
    turned = [(second, first) for first, second in tasks]

    assert exact_test(tasks) == pytest.approx(exact_test(turned))
    assert exact_test(tasks, "less") == pytest.approx(exact_test(turned, "greater"))


def test_small_steps_on_many_tasks_add_up() -> None:
    step = ((3, 8), (5, 8))

    assert exact_test([step]) > 0.5
    assert exact_test([step] * 13) < 0.02


def test_a_task_with_the_same_outcome_everywhere_changes_nothing() -> None:
    tasks = [((1, 8), (7, 8))]

    assert exact_test([*tasks, ((8, 8), (8, 8)), ((0, 8), (0, 8))]) == pytest.approx(
        exact_test(tasks)
    )


def test_no_difference_is_rarely_taken_for_one() -> None:
    generator = np.random.default_rng(3)
    rates = [0.05, 0.2, 0.5, 0.9]

    wrong = sum(
        exact_test([(_draw(generator, rate), _draw(generator, rate)) for rate in rates]) <= 0.05
        for _ in range(1000)
    )

    assert wrong / 1000 <= 0.05


def _draw(generator: np.random.Generator, rate: float, trials: int = 8) -> Counts:
    return int(generator.binomial(trials, rate)), trials


@given(pairs(60))
def test_the_difference_on_one_task_is_newcombes(pair: Pair) -> None:
    first, second = pair
    expected = confint_proportions_2indep(*second, *first, method="newcomb", compare="diff")

    difference, interval = rate_difference([pair])

    assert difference == pytest.approx(second[0] / second[1] - first[0] / first[1])
    assert interval == pytest.approx(expected, abs=1e-9)


def test_the_difference_covers_that_of_these_tasks() -> None:
    generator = np.random.default_rng(4)
    rates = [(0.05, 0.2), (0.5, 0.6), (0.9, 0.7), (0.3, 0.3)]
    truth = np.mean([second - first for first, second in rates])

    covered = 0
    for _ in range(1000):
        tasks = [(_draw(generator, first), _draw(generator, second)) for first, second in rates]
        _, (low, high) = rate_difference(tasks)
        covered += int(low <= truth <= high)

    assert covered / 1000 > 0.94


@settings(max_examples=15)  # statsmodels takes a tenth of a second each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    expected = multipletests(p_values, method="holm")[1]

    assert holm(p_values) == pytest.approx(list(expected))


def test_sets_are_paired_by_task() -> None:
    before = {"digits": (0, 8), "diabetes": (4, 8), "imdb": (1, 8)}
    after = {"digits": (8, 8), "diabetes": (4, 8), "wine": (8, 8)}

    comparison = compare(before, after)

    assert [task.task for task in comparison.tasks] == ["diabetes", "digits"]
    assert comparison.unpaired == ("imdb", "wine")
    assert comparison.difference == 0.5
    assert comparison.interval[0] > 0
    diabetes, digits = comparison.tasks
    assert (diabetes.p_value, diabetes.adjusted) == pytest.approx((1, 1))
    assert digits.adjusted == pytest.approx(2 * digits.p_value)


def test_sets_without_a_common_task_are_refused() -> None:
    with pytest.raises(UsageError, match="no task in common"):
        compare({"digits": (0, 8)}, {"wine": (1, 8)})


def exact_power(before: float, after: float, trials: int) -> float:
    counts = np.arange(trials + 1)
    first = scipy.stats.binom.pmf(counts, trials, before)
    second = scipy.stats.binom.pmf(counts, trials, after)
    return math.fsum(
        first[one] * second[two]
        for one, two in itertools.product(counts, counts)
        if exact_test([((int(one), trials), (int(two), trials))]) <= 0.05
    )


@pytest.mark.parametrize(("before", "after"), [(0.9, 0.4), (0.5, 0.1), (0.2, 0.8)])
def test_as_many_trials_as_are_needed_show_the_difference(before: float, after: float) -> None:
    trials = trials_needed(before, after)

    assert 0.78 < exact_power(before, after, trials) < 0.88


def test_the_same_rate_is_never_told_apart() -> None:
    with pytest.raises(ValueError, match=r"both rates are 0\.5"):
        trials_needed(0.5, 0.5)


@given(st.floats(0.2, 1), st.integers(8, 200))
def test_the_smallest_drop_is_the_one_that_so_many_trials_show(rate: float, trials: int) -> None:
    drop = smallest_drop(rate, trials)

    if drop is None:
        assert trials_needed(rate, 0) > trials
    else:
        assert 0 < drop <= rate
        assert trials_needed(rate, rate - drop) <= trials
        assert trials_needed(rate, rate - drop * 0.95) > trials - 1


def test_from_nothing_there_is_no_drop() -> None:
    assert smallest_drop(0, 1000) is None
