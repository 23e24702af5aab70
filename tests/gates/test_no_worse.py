"""A gate on a comparison fails what is shown to be worse, and says what it could have seen."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.comparison import exact_test
from pytest_mlab.gates import ComparisonGate, Evidence, Judgement

GATE = ComparisonGate("no-worse-than=old.json", "old.json")


def judge(before: list[Evidence], now: list[Evidence], claims: int = 1) -> Judgement:
    """Judge tasks at one look."""
    looks = [{str(n): evidence for n, evidence in enumerate(now)}]
    plan = [{task: evidence.trials for task, evidence in looks[0].items()}]
    return GATE.judge(looks, plan, {str(n): each for n, each in enumerate(before)}, claims)


def tasks(largest: int = 12) -> st.SearchStrategy[list[tuple[Evidence, Evidence]]]:
    evidence = st.builds(Evidence, st.integers(0, largest), st.integers(1, largest))
    return st.lists(st.tuples(evidence, evidence), min_size=1, max_size=4)


@given(tasks())
def test_it_fails_where_the_one_sided_exact_test_says_worse(
    pairs: list[tuple[Evidence, Evidence]],
) -> None:
    p_value = exact_test([(before.worst, now.worst) for before, now in pairs], "less")

    decision = judge([before for before, _ in pairs], [now for _, now in pairs]).decision

    assert decision == ("fail" if p_value <= 0.05 else "pass")


def test_it_says_the_difference_and_how_large_a_drop_could_have_been_seen() -> None:
    judgement = judge([Evidence(8), Evidence(6, 2)], [Evidence(7, 1), Evidence(6, 2)])
    assert judgement.decision == "pass"
    assert judgement.reason == (
        "13 of 16 trials succeeded, 14 of 16 then, on 2 tasks: not significantly worse, -6 points "
        "[-32, +19], p = 0.5 with 0.05 to fail; so many trials show a drop by 47 points 4 times in "
        "5"
    )


def test_too_few_trials_are_said_to_show_next_to_nothing() -> None:
    judgement = judge([Evidence(2)], [Evidence(0, 2)])
    assert judgement.decision == "pass"
    assert "so few trials would hardly show even a drop to 0 %" in judgement.reason


@pytest.mark.parametrize(
    ("before", "now", "decision"),
    [
        (Evidence(8), Evidence(8, 0, 2), "pass"),
        (Evidence(8), Evidence(0, 8, 2), "fail"),
        (Evidence(8), Evidence(4, 0, 4), "undecided"),
        (Evidence(4, 0, 4), Evidence(4, 4), "undecided"),
    ],
)
def test_trials_without_an_outcome_are_counted_both_ways(
    before: Evidence, now: Evidence, decision: str
) -> None:
    assert judge([before], [now]).decision == decision


def test_tasks_of_one_side_only_are_left_out() -> None:
    before = {"old": Evidence(8), "both": Evidence(8)}
    looks = [{"both": Evidence(8), "new": Evidence(0, 8)}]
    plan = [{"both": 8, "new": 8}]

    assert GATE.judge(looks, plan, before).decision == "pass"
    assert GATE.judge(looks, plan, {"old": Evidence(8)}).decision == "undecided"


def simulate(before: float, now: float, seed: int = 3) -> tuple[float, float]:
    """Give how often it fails of 400 times, and after how many of 8 rounds it ends on average."""
    generator = random.Random(seed)

    def draw(rate: float, trials: int) -> Evidence:
        successes = sum(generator.random() < rate for _ in range(trials))
        return Evidence(successes, trials - successes)

    failed = looks = 0
    plan = [dict.fromkeys("abcd", number) for number in range(1, 9)]
    for _ in range(400):
        reference = {task: draw(before, 8) for task in "abcd"}
        seen = [dict.fromkeys("abcd", Evidence())]
        for _ in plan:
            seen.append({task: seen[-1][task] + draw(now, 1) for task in "abcd"})
        judgement = GATE.judge(seen[1:], plan, reference)
        assert judgement.decision != "undecided"
        failed += judgement.decision == "fail"
        looks += judgement.looks
    return failed / 400, looks / 400


@pytest.mark.parametrize("rate", [0.3, 0.6, 0.9])
def test_simulated_gates_fail_by_bad_luck_as_seldom_as_is_said(rate: float) -> None:
    share, _ = simulate(rate, rate)
    assert share <= 0.05 + 3 * 0.011


def test_a_large_drop_is_seen_and_seen_early() -> None:
    share, looks = simulate(0.9, 0.3)
    assert share > 0.95
    assert looks < 5
