"""Failures are counted by kind: the same fault is one, whatever its figures."""

import pytest

from pytest_mlab.reporting.failures import MOST, failure_table, kind_of
from pytest_mlab.results import Result
from tests.reporting.builders import make_result


def invalid(detail: str, task: str = "digits") -> Result:
    return make_result("invalid-submission", detail=detail, task=task)


@pytest.mark.parametrize(
    ("detail", "kind"),
    [
        ("submission.csv has 97 rows, not 600", "submission.csv has # rows, not #"),
        ('there is no column "price"', "there is no column …"),
        ("the agent raised KeyError: 'a'\nmore", "the agent raised KeyError: …"),
        ("took 1.5e-3 s of 2,000", "took # s of #"),
        ("", "stopped: submitted"),
    ],
)
def test_a_kind_leaves_figures_and_names_out(detail: str, kind: str) -> None:
    assert kind_of(invalid(detail)) == kind


def test_kinds_are_counted_and_successes_are_not_among_them() -> None:
    table = failure_table(
        [
            make_result("success"),
            invalid("has 1 row"),
            invalid("has 2 row", "diabetes"),
            make_result("below-threshold"),
        ]
    )

    assert table.rows == (
        ("invalid-submission: has # row", "2", "2"),
        ("below-threshold: stopped: submitted", "1", "1"),
    )


def test_many_kinds_are_summed_up() -> None:
    results = [invalid("x" * n) for n in range(MOST + 5)]

    table = failure_table(results)

    assert len(table.rows) == MOST + 1
    assert table.rows[-1][:2] == ("5 other kinds", "5")
