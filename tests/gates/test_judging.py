"""From trials to a verdict: whose claims they are, which looks there are, what is left out."""

from typing import Any, Literal

import pytest

from pytest_mlab.gates import (
    ComparisonGate,
    RateGate,
    Trial,
    Verdict,
    judge_trials,
    parse_gate,
    store_reference,
)
from pytest_mlab.reporting.terminal import gate_lines
from pytest_mlab.results import Status
from tests.reporting.builders import make_identity, make_result, make_results

OUTCOMES: dict[str, Status] = {"S": "success", "B": "below-threshold", "P": "infra-error"}


def make_trials(text: str, task: str = "digits", **changes: Any) -> list[Trial]:
    """Make one trial a letter: Success, Below, Provider down, skipped -, open ?, needless dot."""
    trials = []
    for number, letter in enumerate(text, start=1):
        state: Literal["open", "over", "not needed"] = (
            "open" if letter == "?" else "not needed" if letter == "." else "over"
        )
        status = OUTCOMES.get(letter)
        result = status and make_result(status, task=task, trial=number)
        trials.append(Trial(make_identity(task, number, **changes), state, result or None))
    return trials


def judge(gate: str, *groups: list[Trial], **options: Any) -> Verdict:
    """Judge some groups of trials together."""
    parsed = parse_gate(gate)
    assert parsed is not None
    return judge_trials(parsed, [trial for group in groups for trial in group], **options)


def test_trials_of_all_tasks_are_one_claim() -> None:
    verdict = judge("rate>=.5,point", make_trials("SSSB"), make_trials("BB", "wine"))
    (judgement,) = verdict.claims.values()
    assert (judgement.evidence.successes, judgement.evidence.misses) == (3, 3)
    assert (verdict.decision, verdict.reason) == ("pass", judgement.reason)


def test_per_task_each_is_a_claim_and_any_fails_it() -> None:
    verdict = judge("rate>=.5,point,per-task", make_trials("SSSB"), make_trials("BB", "wine"))
    assert {claim.task: each.decision for claim, each in verdict.claims.items()} == {
        "digits": "pass",
        "wine": "fail",
    }
    assert verdict.decision == "fail"
    assert verdict.reason.startswith("1 of 2 claims: wine · hillclimb: 0 of 2 trials succeeded")


def test_each_llm_is_a_claim() -> None:
    groups = [make_trials("SS", llm=llm) for llm in ("gpt-4", "claude-2.1")]
    assert len(judge("rate>=.5", *groups).claims) == 2


@pytest.mark.parametrize("letter", "P-")
def test_what_has_no_outcome_is_unknown(letter: str) -> None:
    (judgement,) = judge("rate>=.5", make_trials("SB" + letter)).claims.values()
    assert judgement.evidence.unknown == 1


def test_in_rounds_a_look_waits_for_all_trials_of_the_round() -> None:
    options = {"per_round": 1}
    gate = "rate>=.5,point"
    assert judge(gate, make_trials("SS??"), make_trials("S???", "wine"), **options).decision == (
        "undecided"
    )
    sure = judge(gate, make_trials("SS??"), make_trials("SS??", "wine"), **options)
    (judgement,) = sure.claims.values()
    assert (sure.decision, judgement.looks) == ("pass", 2)


def test_trials_begun_after_it_was_sure_change_nothing() -> None:
    verdict = judge("rate>=.5,point", make_trials("SSBB...."), per_round=1)
    later = judge("rate>=.5,point", make_trials("BBBBB..S"), per_round=1)
    assert (verdict.decision, verdict.not_needed) == ("undecided", 4)
    assert (later.decision, later.not_needed) == ("fail", 2)
    (judgement,) = later.claims.values()
    assert judgement.evidence.misses == 5


def test_a_comparison_is_with_the_same_agent_or_the_only_ones() -> None:
    gate = "no-worse-than=old.json"
    old = store_reference(make_results("SSSSSSSS", agent="research"))
    assert judge(gate, make_trials("BBBBBBBB"), references=old).decision == "fail"

    both = store_reference([*make_results("SSSSSSSS", agent="research"), *make_results("BBBBBBBB")])
    assert judge(gate, make_trials("BBBBBBBB"), references=both).decision == "pass"


def test_what_is_not_compared_is_noted() -> None:
    old = store_reference(
        [
            *make_results("SSSS"),
            *make_results("SSSS", task="gone"),
            *make_results("SSSS", task="changed", task_digest="beef"),
        ]
    )
    verdict = judge(
        "no-worse-than=old.json",
        make_trials("SSSS"),
        make_trials("BBBB", "changed"),
        make_trials("BBBB", "new"),
        references=old,
    )
    assert verdict.decision == "pass"
    assert sorted(verdict.notes) == [
        "changed has been changed since: left out",
        "gone was run then, and not now: left out",
        "new was not run then: left out",
    ]


@pytest.mark.parametrize(
    ("gate", "text", "advice"),
    [
        ("rate>=.5", "SSBB", "no number of trials would decide at this rate"),
        ("rate>=.3", "SSBB", "  about 18 more trials would decide, were the rate to stay"),
        ("rate>=.6,point", "SP", "  1 trial without an outcome would decide; --mlab-resume runs"),
    ],
)
def test_it_says_what_would_decide(gate: str, text: str, advice: str) -> None:
    lines = list(gate_lines(judge(gate, make_trials(text)), 80))
    assert lines[0] == f"gate {gate}: UNDECIDED"
    assert any(advice in line for line in lines), lines


def test_without_any_trial_there_is_no_verdict() -> None:
    for gate in (RateGate("", 0.5), ComparisonGate("", "old.json")):
        assert judge_trials(gate, []).decision == "undecided"
