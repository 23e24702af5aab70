"""Every trial is counted once, under one status, for its agent, its LLM and its task."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.reporting.summary import Skip, summarise, tally
from pytest_mlab.results import STATUSES, Result
from tests.reporting.builders import make_identity, make_result, make_results, results


@given(st.lists(results()))
def test_no_trial_is_lost_or_counted_twice(trials: list[Result]) -> None:
    summary = summarise(trials)

    for tallies in (
        [summary.total],
        [row.tally for row in summary.subjects],
        [row.tally for row in summary.rows],
    ):
        assert sum(each.trials for each in tallies) == len(trials)
        for status in STATUSES:
            count = sum(each.statuses[status] for each in tallies)
            assert count == sum(trial.status == status for trial in trials)


@given(st.lists(results(), min_size=1))
def test_success_below_threshold_invalid_tampered_and_errors_add_up(trials: list[Result]) -> None:
    total = tally(trials)
    below = total.statuses["below-threshold"]

    assert total.successes + below + total.invalid + total.tampered + total.errors == total.trials
    assert total.rate == total.successes / len(trials)
    low, high = total.interval
    assert 0 <= low <= total.rate <= high <= 1


def test_failed_trials_stay_in_the_denominator() -> None:
    total = tally(make_results("SSBINAPHTT"))

    assert (total.successes, total.trials, total.rate) == (2, 10, 0.2)
    assert (total.invalid, total.tampered, total.errors, total.valid) == (2, 2, 3, 3)


def test_trials_to_be_looked_at_are_counted_once_each() -> None:
    flags = ("a score better than the best known", "the same submission as another's")

    total = tally([make_result(flags=flags), make_result()])

    assert (total.flagged, total.successes) == (1, 2)


def test_the_mean_improvement_is_over_valid_trials_only() -> None:
    trials = [make_result(improvement=0.3), make_result("below-threshold", -0.1)]

    total = tally([*trials, make_result("no-submission")])

    assert total.mean_improvement == pytest.approx(0.1)


def test_steps_and_seconds_are_means_over_all_trials() -> None:
    total = tally([make_result(steps=10, seconds=2.0), make_result("no-submission", steps=20)])

    assert total.mean_steps == 15
    assert total.mean_seconds == pytest.approx((2.0 + 31.2) / 2)


def test_of_no_trials_nothing_is_claimed() -> None:
    total = tally([])

    assert total.trials == 0
    assert (total.rate, *total.interval) == (None, 0, 1)
    assert (total.mean_improvement, total.mean_steps, total.mean_seconds) == (None, None, None)


def test_a_mean_too_large_for_a_float_is_none_rather_than_infinite() -> None:
    total = tally([make_result(improvement=1.7e308, score=1.0)] * 2)

    assert total.mean_improvement is None or math.isfinite(total.mean_improvement)


def test_skipped_trials_are_counted_apart() -> None:
    skips = [Skip(make_identity("cifar10"), "needs torch")]

    summary = summarise(make_results("SB"), skips)

    assert (summary.total.trials, summary.total.skipped) == (2, 1)
    assert [(row.task, row.tally.trials, row.tally.skipped) for row in summary.rows] == [
        ("cifar10", 0, 1),
        ("digits", 2, 0),
    ]


def test_rows_are_sorted_by_agent_llm_and_task() -> None:
    trials = [
        make_result(agent="research", llm="gpt-4"),
        make_result(agent="research", llm="claude"),
        make_result(task="wine"),
        make_result(),
    ]

    summary = summarise(trials)

    assert [(row.subject, row.task) for row in summary.rows] == [
        ("hillclimb", "digits"),
        ("hillclimb", "wine"),
        ("research · claude", "digits"),
        ("research · gpt-4", "digits"),
    ]
    assert [row.subject for row in summary.subjects] == [
        "hillclimb",
        "research · claude",
        "research · gpt-4",
    ]
