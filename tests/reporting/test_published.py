"""The paper's figures come with the package, add up as printed, and stand beside ours."""

from statistics import fmean

import pytest

from pytest_mlab.exceptions import UsageError
from pytest_mlab.reporting.published import add_published, read_published
from pytest_mlab.reporting.reading import Session
from pytest_mlab.reporting.report import make_report
from tests.reporting.builders import make_results

PAPER = read_published()


def test_there_are_thirteen_tasks_and_seven_models_with_a_baseline() -> None:
    assert len(PAPER.success_rate) == len(PAPER.mean_improvement) == 13
    assert list(PAPER.success_rate) == list(PAPER.mean_improvement)
    assert (len(PAPER.models), PAPER.models[-1]) == (8, "Baseline")
    rows = [*PAPER.success_rate.values(), *PAPER.mean_improvement.values()]
    assert {len(row) for row in rows} == {8}


def test_success_rates_are_those_of_eight_runs() -> None:
    """All but the baseline's, which was run more or fewer times."""
    for row in PAPER.success_rate.values():
        assert all((rate * PAPER.trials / 100).is_integer() for rate in row[:-1])


def test_every_column_has_the_average_that_the_paper_prints() -> None:
    columns = list(zip(*PAPER.success_rate.values(), strict=True))
    averages = [fmean(column) for column in columns]
    assert averages[:-1] == pytest.approx(PAPER.success_rate_average[:-1], abs=0.051)
    # as the notes say, the printed average of the baseline is not its column's
    assert averages[-1] == pytest.approx(6.4, abs=0.05)
    assert PAPER.success_rate_average[-1] == 10.4

    columns = list(zip(*PAPER.mean_improvement.values(), strict=True))
    averages = [fmean(column) for column in columns]
    assert averages == pytest.approx(PAPER.mean_improvement_average, abs=0.051)


def test_published_columns_stand_beside_those_measured() -> None:
    results = make_results("SSSBBINH", task="house-price") + make_results("SB", task="digits")
    session = Session("one", tuple(results), (), 0)

    success, improvement, *others = make_report([session], published=True)

    at = success.columns.index("Claude v3 (published)")
    cells = {row[0]: (row[1], row[at]) for row in success.rows}
    assert cells["house-price"] == ("3/8 38 % [14, 69]", "100.0 %")
    assert cells["digits"][1] == cells["average of tasks"][1] == ""
    assert "tasks of these names were mended here" in success.notes[-1]
    at = improvement.columns.index("Mixtral (published)")
    assert {row[0]: row[at] for row in improvement.rows}["house-price"] == "+100.0 %"
    assert others == make_report([session])[2:]


def test_tasks_that_the_paper_has_not_are_refused() -> None:
    session = Session("one", tuple(make_results("SB")), (), 0)

    with pytest.raises(UsageError, match="none of these tasks is one of the paper's: cifar10"):
        add_published(make_report([session]))
