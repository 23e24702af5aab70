"""pass@k and pass^k: averaged over tasks, for those k that every task has trials for."""

from pytest_mlab.reporting.summary import summarise
from pytest_mlab.reporting.tries import tries_tables
from pytest_mlab.results import Result
from tests.reporting.builders import make_results


def rows(*trials: Result) -> list[tuple[str, ...]]:
    return [
        row for table in tries_tables(summarise(trials)) for row in (table.columns, *table.rows)
    ]


def test_tasks_weigh_the_same() -> None:
    trials = make_results("SSBB"), make_results("SSSSSSSS", task="wine")

    # of the 6 pairs of digits' trials 5 hold a success and 1 two; all 4 hold one, and misses
    assert rows(*trials[0], *trials[1]) == [
        ("agent", "pass@2", "pass^2", "pass@4", "pass^4"),
        ("hillclimb", "92 %", "58 %", "100 %", "50 %"),
    ]


def test_an_agent_with_too_few_trials_has_no_estimate() -> None:
    trials = [*make_results("SB"), *make_results("SBBB", agent="research")]

    assert rows(*trials)[1:] == [
        ("hillclimb", "100 %", "0 %", "–", "–"),
        ("research", "50 %", "0 %", "100 %", "0 %"),
    ]


def test_one_trial_of_a_task_says_nothing_of_several() -> None:
    assert rows(*make_results("S"), *make_results("SSS", task="wine")) == []
    assert rows() == []
