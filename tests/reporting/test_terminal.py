"""The live line of a trial, and the table at the end: complete, and within the width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.reporting.summary import Skip, summarise
from pytest_mlab.reporting.terminal import live_line, table_lines, total_lines
from pytest_mlab.results import Result, Usage
from tests.reporting.builders import make_identity, make_result, make_results, results


def test_a_live_line_says_what_came_of_a_trial() -> None:
    assert live_line(make_result(llm="gpt-4", agent="research", trial=2)) == (
        "success  digits · research · gpt-4 · trial 2  accuracy 0.904 against 0.8 (+13.0 %)"
        "  12 steps  31 s"
    )


def test_a_live_line_says_why_there_is_no_score() -> None:
    result = make_result("invalid-submission", steps=1, detail="3 rows,\n   not 360")

    assert live_line(result) == (
        "invalid-submission  digits · hillclimb · trial 0  1 step  31 s  3 rows, not 360"
    )


def test_a_live_line_says_why_to_look_at_a_trial() -> None:
    result = make_result(flags=("better than the best known, 0.9",))

    assert live_line(result).endswith("  31 s  flagged: better than the best known, 0.9")


@given(results())
def test_a_live_line_is_one_line(result: Result) -> None:
    shown = live_line(make_result(result.status, detail=result.detail, flags=result.flags))

    assert len(shown.splitlines()) == 1


def test_the_table_at_80_columns() -> None:
    trials = [
        *make_results("SSSBBINH"),
        *make_results("BBBBBBBB", task="vectorization"),
        *make_results("SS", agent="research", llm="gpt-4", task="house-price", seconds=18_000.0),
    ]

    assert table_lines(summarise(trials), 80) == [
        "hillclimb",
        "               success      rate [95 %]     impr.  inv.  err.  steps    time",
        "digits             3/8    38 % [14, 69]    +8.6 %     2     1     12    31 s",
        "vectorization      0/8      0 % [0, 32]    +2.0 %     0     0     12    31 s",
        "all tasks         3/16     19 % [7, 43]    +4.5 %     2     1     12    31 s",
        "research · gpt-4",
        "               success      rate [95 %]     impr.  inv.  err.  steps    time",
        "house-price        2/2  100 % [34, 100]   +13.0 %     0     0     12   5.0 h",
    ]


def test_tampering_has_a_column_where_it_occurs() -> None:
    trials = [*make_results("SSTBBINH"), *make_results("BBTT", task="vectorization")]

    assert table_lines(summarise(trials), 80) == [
        "hillclimb",
        "               success      rate [95 %]     impr.  inv.  err.  tamp.    time",
        "digits             2/8     25 % [7, 59]    +7.5 %     2     1      1    31 s",
        "vectorization      0/4      0 % [0, 49]    +2.0 %     0     0      2    31 s",
        "all tasks         2/12     17 % [5, 45]    +5.7 %     2     1      3    31 s",
    ]


def test_the_table_at_120_columns() -> None:
    assert table_lines(summarise(make_results("SSSBBINH")), 120) == [
        "hillclimb",
        "        success      rate [95 %]  improvement  invalid  errors  steps    time",
        "digits      3/8    38 % [14, 69]       +8.6 %        2       1     12    31 s",
    ]


@pytest.mark.parametrize("width", [72, 80, 100, 120, 200])
@given(trials=st.lists(results(), min_size=1, max_size=20), task=st.text("ab-", min_size=1))
def test_the_table_fits(width: int, trials: list[Result], task: str) -> None:
    named = [make_result(trial.status, task=task, steps=trial.steps % 1000) for trial in trials]

    assert all(len(line) <= width for line in table_lines(summarise([*named]), width))


def test_long_names_of_tasks_are_shortened_in_the_middle() -> None:
    trials = make_results("S", task="identify-contrails-in-satellite-images")

    lines = table_lines(summarise(trials), 80)

    assert lines[2].startswith("identify-contra…satellite-images  ")
    assert max(len(line) for line in lines) <= 80


def test_a_task_of_which_every_trial_was_skipped_has_no_row() -> None:
    skips = [Skip(make_identity("cifar10"), "needs torch")]

    assert not any("cifar10" in line for line in table_lines(summarise([], skips), 80))


def test_the_total_says_what_became_of_every_trial() -> None:
    trials = make_results("SSSBBINH", usage=Usage(1000, 200, 0, 0.25))
    skips = [Skip(make_identity("cifar10"), "needs torch")]

    lines = total_lines(summarise(trials, skips), not_run=4, width=200)

    assert lines == [
        "8 trials: 3 successes (38 % [14, 69]), 2 below-threshold, 1 invalid-submission, "
        "1 no-submission, 1 harness-error, 1 skipped, 4 not run, 4 min of agents' time, "
        "9,600 tokens, 2.00 USD"
    ]


def test_the_total_breaks_between_figures_only() -> None:
    lines = total_lines(summarise(make_results("SSSBBINH")), not_run=4, width=80)

    assert lines == [
        "8 trials: 3 successes (38 % [14, 69]), 2 below-threshold, 1 invalid-submission,",
        "  1 no-submission, 1 harness-error, 4 not run, 4 min of agents' time",
    ]


def test_the_total_says_how_many_trials_to_look_at() -> None:
    trials = [make_result(flags=("odd",)), *make_results("T")]

    assert total_lines(summarise(trials), not_run=0, width=200) == [
        "2 trials: 1 success (50 % [9, 91]), 1 tampered, 1 flagged for review, 62 s of agents' time"
    ]


def test_the_total_of_nothing_claims_no_rate() -> None:
    assert total_lines(summarise([]), not_run=2, width=80) == [
        "0 trials: 0 successes, 2 not run, 0.0 s of agents' time"
    ]
