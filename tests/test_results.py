"""A result goes to JSON and back without loss, and says in a line what came of the trial."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.results import STATUSES, Identity, Result, Usage, format_improvement
from tests.reporting.builders import make_result, results


@given(results())
def test_a_result_survives_json(result: Result) -> None:
    text = result.to_json()

    assert Result.from_json(text) == result
    assert "\n" not in text


@given(results())
def test_the_record_says_success_and_validity_in_so_many_words(result: Result) -> None:
    record = result.to_dict()

    assert record["success"] == (result.status == "success")
    assert record["valid"] == (result.score is not None)


@pytest.mark.parametrize("figure", ["score", "baseline", "improvement", "seconds"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_written(figure: str, value: float) -> None:
    result = Result.from_dict(make_result().to_dict() | {figure: value})

    with pytest.raises(ValueError, match="JSON"):
        result.to_json()


def test_keys_of_later_versions_are_passed_over() -> None:
    record = make_result().to_dict() | {"colour": "red"}

    assert Result.from_dict(record) == make_result()


def test_usage_adds_up_field_by_field() -> None:
    total = Usage(1, 2, 3, 0.5) + Usage(10, 20, 30, 0.25)

    assert total == Usage(11, 22, 33, 0.75)
    assert total.tokens == 33


@pytest.mark.parametrize("status", STATUSES)
def test_only_success_is_success(status: str) -> None:
    result = Result.from_dict(make_result().to_dict() | {"status": status})

    assert result.success == (status == "success")


def test_the_summary_says_what_was_missed() -> None:
    result = make_result("below-threshold", steps=1, folder="runs/1")

    assert result.summary() == (
        "digits · hillclimb · trial 0: below-threshold; accuracy 0.816 against a baseline of 0.8 "
        "(+2.0 %, needs more than +10%); stopped: submitted after 1 steps, 31.2 s; "
        "recorded in runs/1"
    )


def test_the_summary_of_an_invalid_submission_says_why() -> None:
    result = make_result("invalid-submission", stop=None, llm="gpt-4", detail="3 rows, not 360")

    assert result.summary() == (
        "digits · hillclimb · gpt-4 · trial 0: invalid-submission; 3 rows, not 360"
    )


def test_the_summary_says_why_to_look_at_the_trial() -> None:
    result = make_result(flags=("better than the best known", "as another's"))

    assert "; flagged for review: better than the best known; flagged for review: as another's" in (
        result.summary()
    )


@pytest.mark.parametrize(
    ("improvement", "text"),
    [
        (0.131, "+13.1 %"),
        (-0.5, "-50.0 %"),
        (0.0, "+0.0 %"),
        (-0.0004, "+0.0 %"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_an_improvement_is_a_signed_percentage(improvement: float | None, text: str) -> None:
    assert format_improvement(improvement) == text


@given(results())
def test_an_identity_is_part_of_every_result(result: Result) -> None:
    names = Identity.__dataclass_fields__

    assert {name: json.loads(result.to_json())[name] for name in names} == {
        name: getattr(result, name) for name in names
    }


@given(st.sampled_from(STATUSES), st.none() | st.just("gpt-4"))
def test_the_subject_is_the_agent_and_the_llm_that_it_asks(status: str, llm: str | None) -> None:
    result = make_result(llm=llm)

    assert result.subject == ("hillclimb" if llm is None else "hillclimb · gpt-4")
