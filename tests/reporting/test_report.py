"""A report's tables: rates by task and agent, improvements, what went wrong, what changed."""

import pytest

from pytest_mlab.comparison import smallest_drop, trials_needed
from pytest_mlab.exceptions import UsageError
from pytest_mlab.reporting.reading import Session
from pytest_mlab.reporting.report import make_report
from pytest_mlab.reporting.summary import Skip
from pytest_mlab.reporting.table import Table
from pytest_mlab.results import Result, Usage
from pytest_mlab.statistics import average_mean, bootstrap_interval
from tests.reporting.builders import make_identity, make_result, make_results


def session(*trials: Result, skips: int = 0, unfinished: int = 0) -> Session:
    skipped = tuple(Skip(make_identity("cifar10"), "needs torch") for _ in range(skips))
    return Session("one", trials, skipped, unfinished)


def tables(*sessions: Session) -> dict[str, Table]:
    return {table.title: table for table in make_report(sessions)}


def test_rates_are_by_task_and_agent() -> None:
    trials = [
        *make_results("SSSBBINH"),
        *make_results("B" * 8, task="wine"),
        *make_results("SB", agent="research", llm="gpt-4"),
    ]

    table = tables(session(*trials))["Success rate"]

    assert table.columns == ("task", "hillclimb", "research · gpt-4")
    assert table.rows == (
        ("digits", "3/8 38 % [14, 69]", "1/2 50 % [9, 91]"),
        ("wine", "0/8 0 % [0, 32]", "–"),
        ("average of tasks", "19 % [0, 98]", "50 % [0, 100]"),
    )


def test_a_single_task_has_no_average() -> None:
    table = tables(session(*make_results("SB")))["Success rate"]

    assert [row[0] for row in table.rows] == ["digits"]


def test_improvements_are_of_valid_trials_with_an_interval() -> None:
    gains = [0.05, 0.1, 0.2, 0.15, 0.1, 0.3]
    trials = [make_result(improvement=gain) for gain in gains]

    table = tables(session(*trials, make_result("no-submission")))["Mean improvement"]

    low, high = bootstrap_interval(gains)
    assert table.rows == (("digits", f"+15.0 % [{low * 100:+.0f}, {high * 100:+.0f}] n=6"),)


def test_a_mean_of_one_has_no_interval_and_of_none_no_value() -> None:
    trials = [*make_results("S"), *make_results("N", task="wine")]

    table = tables(session(*trials))["Mean improvement"]

    assert table.rows == (("digits", "+13.0 % n=1"), ("wine", "–"))


def test_every_status_has_its_count() -> None:
    table = tables(session(*make_results("SSBINATPH")))["What became of the trials"]

    assert table.rows == (("hillclimb", "2", "1", "1", "1", "1", "1", "1", "1"),)


def test_trials_to_be_looked_at_are_listed_with_the_evidence() -> None:
    flagged = make_result(llm="gpt-4", trial=2, flags=("better than the best known", "a copy"))

    table = tables(session(*make_results("S"), flagged))["Flagged for review"]

    assert table.rows == (
        ("digits · hillclimb · gpt-4 · trial 2", "better than the best known"),
        ("digits · hillclimb · gpt-4 · trial 2", "a copy"),
    )
    assert "Flagged for review" not in tables(session(*make_results("ST")))


def test_what_it_took_is_there() -> None:
    trials = make_results("SB", usage=Usage(1000, 200, 0, 0.25))

    table = tables(session(*trials))["What it took"]

    assert table.rows == (("hillclimb", "12.0", "31 s", "2,400", "0.50"),)


def test_what_is_not_counted_is_said() -> None:
    table = tables(session(*make_results("S"), skips=2, unfinished=3))["Success rate"]

    assert table.notes[1:] == (
        "Not counted: 2 skipped trials.",
        "Not counted: 3 planned trials without a result (not run, or cut short).",
    )


def test_trials_that_should_not_be_mixed_are_said() -> None:
    trials = [make_result(), make_result(task_digest="beef"), make_result(threshold=0.2)]

    table = tables(session(*trials))["Success rate"]

    assert table.notes[1:] == (
        "Caution: trials on different versions of a task: digits.",
        "Caution: success was judged by different thresholds: 10%, 20%.",
    )


def test_a_comparison_comes_first() -> None:
    before = session(*make_results("B" * 8), *make_results("BBBS", task="imdb"))
    after = session(*make_results("S" * 8), *make_results("BBBS", task="wine"))

    table = make_report([after], [before])[0]

    assert table.title == "hillclimb against hillclimb"
    assert table.columns == ("task", "before", "after", "difference", "p")
    assert table.rows == (
        ("digits", "0/8", "8/8", "+100", "<0.001"),
        ("average of tasks", "", "", "+100 [+54, +100]", "<0.001"),
    )
    assert table.notes[1].startswith("To show a difference as large as this one 4 times in 5, ")
    assert table.notes[2] == "Only in one of the two, and left out: imdb, wine."


def test_a_comparison_says_what_so_many_trials_can_show() -> None:
    before, after = session(*make_results("SSSB" * 8)), session(*make_results("SSBB" * 8))

    notes = make_report([after], [before])[0].notes

    drop = smallest_drop(0.75, 32)
    assert drop is not None
    assert notes[1] == f"So many trials show a drop by {drop * 100:.0f} points 4 times in 5."
    assert f", {trials_needed(0.75, 0.5)} trials on each side would do" in notes[2]


def test_improvements_are_averaged_over_tasks() -> None:
    gains = {"digits": [0.1, 0.2], "wine": [0.3], "cora": []}
    trials = [make_result(improvement=gain, task=task) for task in gains for gain in gains[task]]

    table = tables(session(*trials, make_result("no-submission", task="cora")))["Mean improvement"]

    _, (low, high) = average_mean([[0.1, 0.2], [0.3]])
    assert table.rows[-1] == (
        "average of tasks",
        f"+22.5 % [{low * 100:+.0f}, {high * 100:+.0f}]",
    )


def test_two_llms_can_be_compared() -> None:
    before = session(*make_results("BBBB", agent="research", llm="gpt-4"))
    after = session(*make_results("BBBS", agent="research", llm="claude"))

    assert make_report([after], [before])[0].title == "research · claude against research · gpt-4"


def test_of_several_agents_each_is_compared_with_itself() -> None:
    both = session(*make_results("SB"), *make_results("SB", agent="research", llm="gpt-4"))

    titles = [table.title for table in make_report([both], [both])]

    assert titles[:2] == [
        "hillclimb against hillclimb",
        "research · gpt-4 against research · gpt-4",
    ]


def test_sets_that_have_nothing_in_common_are_refused() -> None:
    one = session(*make_results("S"), *make_results("S", agent="research", llm="gpt-4"))
    other = session(*make_results("S", agent="a"), *make_results("S", agent="b"))

    with pytest.raises(UsageError, match="no agent and LLM in common"):
        make_report([one], [other])
    with pytest.raises(UsageError, match="no task in common"):
        make_report([session(*make_results("S"))], [session(*make_results("S", task="wine"))])
