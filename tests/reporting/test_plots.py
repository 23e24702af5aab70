"""Plots put figures where they belong; what is drawn is what was measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.reporting.drawing import WIDTH, Plot, Scale
from pytest_mlab.reporting.plots import (
    Curve,
    plot_improvements,
    plot_progress,
    plot_success,
    plot_usage,
)
from pytest_mlab.reporting.summary import summarise
from pytest_mlab.results import Usage
from tests.reporting.builders import make_result, make_results


def labels(plot: Plot | None, kind: str = "mark") -> list[str]:
    assert plot is not None
    return [shape.label for shape in plot.shapes if shape.kind == kind]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.lists(st.floats(-1e7, 1e7), min_size=1))
def test_a_scale_keeps_to_its_ends_and_its_order(
    low: float, span: float, values: list[float]
) -> None:
    scale = Scale(low, low + span, 10, 390)

    places = [scale(value) for value in sorted(values)]

    assert all(10 <= place <= 390 for place in places)
    assert places == sorted(places)


@given(st.floats(-1e6, 1e6), st.floats(1e-2, 1e6))
def test_ticks_are_few_round_and_within(low: float, span: float) -> None:
    scale = Scale(low, low + span, 0, 1)

    assert 2 <= len(scale.ticks) <= 7
    assert all(low - span * 1e-6 <= tick <= low + span * (1 + 1e-6) for tick in scale.ticks)


def test_ticks_of_a_rate_are_its_fifths() -> None:
    assert Scale(0, 1, 0, 1).ticks == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


def test_success_is_drawn_with_its_interval_in_the_lane_of_its_task() -> None:
    results = make_results("SSSBBINH") + make_results("BBBB", task="vectorization")
    plot = plot_success(summarise(results))

    first, second = (shape for shape in plot.shapes if shape.kind == "mark")
    assert first.label == "digits, hillclimb: 3/8, 38 % [14, 69]"
    assert second.label == "vectorization, hillclimb: 0/4, 0 % [0, 49]"
    assert second.x < first.x
    assert first.y < second.y
    bar = next(shape for shape in plot.shapes if shape.style == "interval")
    (low, _), (high, _) = bar.points
    assert low < first.x < high
    assert (first.x - low) / (high - first.x) == pytest.approx(
        (37.5 - 13.7) / (69.4 - 37.5), rel=0.02
    )


def test_every_valid_trial_is_drawn_and_what_is_beyond_the_scale_is_said() -> None:
    results = [*make_results("SBI"), make_result(improvement=40.0, trial=7)]

    plot = plot_improvements(results)

    assert len(labels(plot)) == 3
    assert "digits, hillclimb, trial 7: +4000.0 %" in labels(plot)
    assert plot is not None
    assert plot.note.endswith("1 beyond the scale are drawn at its edge.")
    assert plot_improvements(make_results("INH")) is None


def test_usage_is_tokens_unless_something_cost_money() -> None:
    free = [make_result(usage=Usage(900, 100)), make_result("below-threshold")]
    paid = [make_result(usage=Usage(900, 100, 0, 0.5), agent="tools", llm="gpt-4"), *free]

    assert labels(plot_usage(summarise(free))) == ["hillclimb: 50 % [9, 91], 500 tokens per trial"]
    assert labels(plot_usage(summarise(paid)))[1] == (
        "tools · gpt-4: 100 % [21, 100], 0.5 USD per trial"
    )
    assert plot_usage(summarise(make_results("SB"))) is None


def test_best_so_far_begins_at_the_baseline_and_goes_on_to_the_last_step() -> None:
    curves = [
        Curve("research", "one", ((2, 0.1), (4, 0.3))),
        Curve("research", "two", ((10, 0.2),)),
        Curve("tools", "none", ()),
    ]

    plot = plot_progress(curves)

    assert plot is not None
    assert plot.series == ("research",)
    one, two, middle = (shape for shape in plot.shapes if shape.kind == "curve")
    assert one.points[0] == two.points[0] == middle.points[0]
    assert one.points[-1][0] == two.points[-1][0] == WIDTH - 20
    assert one.points[-1][1] < middle.points[-1][1] < two.points[-1][1]
    assert plot_progress([Curve("tools", "none", ())]) is None


@given(st.lists(st.tuples(st.sampled_from("SBINH"), st.floats(-1e9, 1e9)), min_size=1))
def test_every_point_is_within_the_plot(trials: list[tuple[str, float]]) -> None:
    results = [
        make_results(letter)[0] if letter in "INH" else make_result(improvement=value, trial=n)
        for n, (letter, value) in enumerate(trials)
    ]
    for plot in (plot_success(summarise(results)), plot_improvements(results)):
        for shape in plot.shapes if plot else ():
            for x, y in shape.points:
                assert 0 <= x <= WIDTH
                assert 0 <= y <= (plot.height if plot else 0)
