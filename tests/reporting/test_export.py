"""CSV for spreadsheets and data frames: numbers as numbers, text never as formulas."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.reporting.export import export_rates, export_trials
from pytest_mlab.reporting.summary import summarise
from pytest_mlab.results import Result, Usage
from tests.reporting.builders import make_result, make_results, results


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_trial_has_a_line() -> None:
    trials = [
        make_result(llm="gpt-4", usage=Usage(7, 5, 3, 0.5)),
        make_result("no-submission", detail='no "submission.csv",\nnor any other'),
    ]

    first, second = rows(export_trials(trials))

    assert (first["llm"], first["status"], first["input_tokens"]) == ("gpt-4", "success", "7")
    assert float(first["improvement"]) == 0.13
    assert (second["score"], second["valid"]) == ("", "False")
    assert second["detail"] == 'no "submission.csv",\nnor any other'


def test_flags_are_one_cell() -> None:
    first, second = rows(export_trials([make_result(), make_result(flags=("odd", "a copy"))]))

    assert (first["flags"], second["flags"]) == ("", "odd; a copy")


@given(st.lists(results(), min_size=1))
def test_lines_and_trials_are_as_many(trials: list[Result]) -> None:
    assert len(rows(export_trials(trials))) == len(trials)


def test_every_task_and_agent_has_a_line_of_figures() -> None:
    (row,) = rows(export_rates(summarise(make_results("SSSBBINH"))))

    assert (row["task"], row["agent"], row["llm"]) == ("digits", "hillclimb", "")
    assert (row["successes"], row["trials"], row["rate"]) == ("3", "8", "0.375")
    assert (row["below-threshold"], row["harness-error"]) == ("2", "1")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_text_is_never_a_formula(start: str) -> None:
    (row,) = rows(export_trials([make_result(detail=f"{start}HYPERLINK(1)")]))

    assert row["detail"] == f"'{start}HYPERLINK(1)"


def test_negative_numbers_stay_numbers() -> None:
    (row,) = rows(export_trials([make_result("below-threshold", improvement=-0.25)]))

    assert float(row["improvement"]) == -0.25
