"""A gate on the rate passes what is shown to reach it, and fails what is shown not to."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.gates import Evidence, Judgement, RateGate
from pytest_mlab.statistics import wilson_interval

GOAL = 0.375
COUNTS = st.integers(0, 60)


def judge(gate: RateGate, evidence: Evidence, claims: int = 1) -> Judgement:
    """Judge trials of one task at one look."""
    return gate.judge([{"digits": evidence}], [{"digits": evidence.trials}], claims)


@given(COUNTS, COUNTS)
def test_it_goes_by_the_interval_that_the_table_shows(successes: int, misses: int) -> None:
    low, high = wilson_interval(successes, successes + misses)
    expected = "pass" if low >= GOAL else "fail" if high < GOAL else "undecided"

    assert judge(RateGate("", GOAL), Evidence(successes, misses)).decision == expected


@given(COUNTS, COUNTS.filter(bool))
def test_by_the_point_only_the_rate_counts(successes: int, misses: int) -> None:
    expected = "pass" if successes / (successes + misses) >= GOAL else "fail"

    gate = RateGate("", GOAL, by_point=True)
    assert judge(gate, Evidence(successes, misses)).decision == expected


@given(COUNTS, COUNTS, COUNTS.filter(bool), st.booleans())
def test_a_verdict_stands_whatever_the_trials_without_an_outcome_would_have_been(
    successes: int, misses: int, unknown: int, by_point: bool
) -> None:
    gate = RateGate("", GOAL, by_point=by_point)
    found = {
        judge(gate, Evidence(successes + more, misses + unknown - more)).decision
        for more in (0, unknown)
    }

    decision = judge(gate, Evidence(successes, misses, unknown)).decision

    assert decision == (found.pop() if len(found) == 1 else "undecided")


def test_nothing_is_no_evidence() -> None:
    judgement = judge(RateGate("", GOAL), Evidence(unknown=8))
    assert (judgement.decision, judgement.reason) == ("undecided", "no trial has an outcome")
    assert judge(RateGate("", GOAL), Evidence()).decision == "undecided"


@given(st.integers(0, 40), st.integers(0, 40).filter(bool))
def test_as_many_more_trials_as_it_says_decide(successes: int, misses: int) -> None:
    judgement = judge(RateGate("", GOAL), Evidence(successes, misses))
    if judgement.decision == "undecided" and judgement.more is not None:
        trials = successes + misses + judgement.more
        rate = successes / (successes + misses)
        then = Evidence(round(rate * trials), trials - round(rate * trials))
        assert judge(RateGate("", GOAL), then).decision != "undecided"


def test_at_exactly_the_rate_no_number_of_trials_decides() -> None:
    assert judge(RateGate("", GOAL), Evidence(3, 5)).more is None


def test_each_of_many_claims_needs_more_to_fail_and_no_more_to_pass() -> None:
    gate = RateGate("", GOAL)
    few, many = Evidence(0, 8), Evidence(6, 2)

    assert judge(gate, few).decision == "fail"
    corrected = judge(gate, few, claims=13)
    assert corrected.decision == "undecided"
    assert judge(gate, many).decision == judge(gate, many, claims=13).decision == "pass"
    surely = judge(gate, Evidence(0, 16), claims=13)
    assert "99.62 % interval, corrected for 13 claims, is below 37.5 %" in surely.reason


def test_the_reason_says_which_figure_decided() -> None:
    assert judge(RateGate("", GOAL), Evidence(8, 0)).reason == (
        "8 of 8 trials succeeded, 100 % [68, 100]: the lower end of the interval is at or above "
        "37.5 %"
    )
    assert judge(RateGate("", GOAL, by_point=True), Evidence(3, 5, 0)).reason == (
        "3 of 8 trials succeeded, 38 % [14, 69]: the rate itself is at or above 37.5 %"
    )


def rounds(outcomes: list[bool], tasks: int) -> list[dict[str, Evidence]]:
    """Give the looks after each round of one trial a task."""
    looks = []
    for size in range(tasks, len(outcomes) + 1, tasks):
        successes = sum(outcomes[:size])
        looks.append({"all": Evidence(successes, size - successes)})
    return looks


def test_in_rounds_the_first_look_that_decides_is_what_counts() -> None:
    plan = [{"all": 4 * number} for number in range(1, 17)]
    looks = rounds([True] * 12 + [False] * 52, 4)

    judgement = RateGate("", GOAL).judge(looks, plan)

    assert (judgement.decision, judgement.looks) == ("pass", 3)
    assert judgement.evidence == Evidence(12, 0)
    assert judgement.reason.endswith("11 are enough to show 37.5 % at look 3 of 16")


def test_by_the_point_rounds_end_when_the_rest_cannot_change_it() -> None:
    plan = [{"all": number} for number in range(1, 9)]
    gate = RateGate("", GOAL, by_point=True)

    passed = gate.judge(rounds([True] * 8, 1), plan)
    failed = gate.judge(rounds([False] * 8, 1), plan)

    assert (passed.decision, passed.looks) == ("pass", 3)  # 3 of 8 are 37.5 %
    assert (failed.decision, failed.looks) == ("fail", 6)


@pytest.mark.parametrize(
    ("rate", "wrong"), [(GOAL, "fail"), (GOAL - 1e-9, "pass"), (0.3, "pass"), (0.45, "fail")]
)
@pytest.mark.parametrize("claims", [1, 4])
def test_simulated_gates_are_wrong_as_seldom_as_is_said(
    rate: float, wrong: str, claims: int
) -> None:
    """1,000 sessions of up to 8 rounds of 4 trials for each claim, with a fixed seed."""
    generator = random.Random(11)
    plan = [{"all": 4 * number} for number in range(1, 9)]
    gate = RateGate("", GOAL)
    mistakes = 0
    for _ in range(1_000):
        decisions = {
            gate.judge(
                rounds([generator.random() < rate for _ in range(32)], 4), plan, claims
            ).decision
            for _ in range(claims)
        }
        verdict = "fail" if "fail" in decisions else "pass" if decisions == {"pass"} else None
        mistakes += verdict == wrong

    assert mistakes / 1_000 <= 0.025 + 3 * 0.005
