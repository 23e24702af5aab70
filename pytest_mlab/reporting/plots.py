"""The plots of a report: success by task, improvements, best so far, and what success took."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pytest_mlab.reporting.drawing import TEXT, WIDTH, Plot, Scale
from pytest_mlab.reporting.formats import format_rate
from pytest_mlab.reporting.summary import Row, Summary, Tally
from pytest_mlab.results import Result, format_improvement

LANE = 13
"""Height of one series' lane in a row."""
LEFT, RIGHT, TOP = 122, WIDTH - 20, 6
RANGE = -1.0, 2.0
"""Improvements beyond are drawn at the edge: one may be a thousandfold, and hide all others."""
CHEAPEST = 1e-9
"""US dollars (or tokens) of a trial below which nothing was spent."""


@dataclass(frozen=True)
class Curve:
    """The best improvement of a trial so far: pairs of a step and what was best after it."""

    subject: str
    label: str
    points: tuple[tuple[int, float], ...]


def plot_success(summary: Summary) -> Plot:
    """Show the success rate of each task and subject, with its interval."""
    subjects = [row.subject for row in summary.subjects if row.tally.trials]
    tallies = {(row.task or "", row.subject): row.tally for row in summary.rows if row.tally.trials}
    return draw_rates("Success by task", subjects, tallies)


def draw_rates(
    title: str, subjects: Sequence[str], tallies: Mapping[tuple[str, str], Tally]
) -> Plot:
    """Show rates with their intervals, given by task and subject."""
    plot, lanes, bottom = _by_task(title, [task for task, _ in tallies], subjects)
    plot.summary = "Success rate in per cent with its 95 % interval, for each task."
    scale = Scale(0, 1, LEFT, RIGHT)
    plot.x_axis(scale, TOP, bottom, lambda value: f"{value:.0%}")
    for (task, subject), tally in tallies.items():
        y, series = lanes[task, subject], subjects.index(subject)
        low, high = tally.interval
        label = f"{task}, {subject}: {tally.successes}/{tally.trials}, {format_rate(tally)}"
        plot.curve([(scale(low), y), (scale(high), y)], series, "interval", label)
        plot.mark(scale(tally.rate or 0), y, series, label)
    return plot


def plot_improvements(results: Sequence[Result]) -> Plot | None:
    """Show the improvement of every valid trial; None where there is none."""
    valid = [result for result in results if result.improvement is not None]
    if not valid:
        return None
    subjects = sorted({result.subject for result in valid})
    plot, lanes, bottom = _by_task(
        "Improvement of each valid trial", [result.task for result in valid], subjects
    )
    plot.summary = "Improvement over the baseline of every valid trial, by task; more is better."
    improvements = [result.improvement or 0.0 for result in valid]
    low, high = max(min([*improvements, 0]), RANGE[0]), min(max([*improvements, 0.2]), RANGE[1])
    scale = Scale(low - 0.05, high + 0.05, LEFT, RIGHT)
    plot.x_axis(scale, TOP, bottom, lambda value: f"{value:+.0%}" if value else "0%")
    for threshold in sorted({result.threshold for result in valid}):
        if scale.holds(threshold):
            plot.line((scale(threshold), TOP), (scale(threshold), bottom), style="threshold")
    beyond = 0
    for number, (result, improvement) in enumerate(zip(valid, improvements, strict=True)):
        y = lanes[result.task, result.subject] + (number * 4 % 9 - 4)  # so that few lie on others
        label = f"{result.task}, {result.subject}, trial {result.trial}: "
        style = "dot" if scale.holds(improvement) else "dot beyond"
        beyond += not scale.holds(improvement)
        label += format_improvement(improvement)
        plot.mark(scale(improvement), y, subjects.index(result.subject), label, style)
    plot.note = "The dashed line is the threshold of success." + (
        f" {beyond} beyond the scale are drawn at its edge." if beyond else ""
    )
    return plot


def plot_progress(curves: Sequence[Curve]) -> Plot | None:
    """Show the best improvement so far against steps; None where no step was scored."""
    curves = [curve for curve in curves if curve.points]
    if not curves:
        return None
    subjects = sorted({curve.subject for curve in curves})
    last = max(curve.points[-1][0] for curve in curves)
    best = max(max(value for _, value in curve.points) for curve in curves)
    plot = Plot("Best so far", "", tuple(subjects), 240)
    plot.summary = "Best improvement so far against steps: thin, each trial; bold, their median."
    plot.note = plot.summary + " Scored after the trial: no agent saw these scores."
    across = Scale(0, max(last, 1), 46, RIGHT)
    up = Scale(0, min(max(best, 0.2), RANGE[1]), 200, TOP + 6)
    plot.x_axis(across, TOP + 6, 200, lambda value: f"{value:g}" if value == int(value) else "")
    plot.y_axis(up, 46, RIGHT, lambda value: f"{value:+.0%}" if value else "0%")
    plot.text((46 + RIGHT) / 2, 232, "steps", "middle")
    for curve in curves:
        series = subjects.index(curve.subject)
        plot.curve(_stairs(curve.points, last, across, up), series, "trial", curve.label)
    for series, subject in enumerate(subjects):
        own = [curve for curve in curves if curve.subject == subject]
        middle = [(step, median(_at(curve, step) for curve in own)) for step in range(last + 1)]
        plot.curve(_stairs(middle, last, across, up), series, "median", f"median of {subject}")
    return plot


def plot_usage(summary: Summary) -> Plot | None:
    """Show success against money, or tokens where nothing cost any; None where none were used."""
    rows = [row for row in summary.subjects if row.tally.trials]
    costs = any(row.tally.usage.cost_usd for row in rows)

    def spent(row: Row) -> float:
        usage = row.tally.usage
        return (usage.cost_usd if costs else usage.tokens) / row.tally.trials

    most = max(map(spent, rows), default=0)
    if most < CHEAPEST:
        return None
    unit = "USD" if costs else "tokens"
    plot = Plot(f"Success and {unit}", "", tuple(row.subject for row in rows), 240)
    plot.summary = f"Success rate over all tasks against mean {unit} of a trial."
    across, up = Scale(0, most * 1.1, 46, RIGHT), Scale(0, 1, 200, TOP + 6)
    plot.x_axis(across, TOP + 6, 200, _amount)
    plot.y_axis(up, 46, RIGHT, lambda value: f"{value:.0%}")
    plot.text((46 + RIGHT) / 2, 232, f"{unit} per trial", "middle")
    for series, row in enumerate(rows):
        x, (low, high) = across(spent(row)), row.tally.interval
        label = f"{row.subject}: {format_rate(row.tally)}, {spent(row):,.4g} {unit} per trial"
        plot.curve([(x, up(low)), (x, up(high))], series, "interval", label)
        plot.mark(x, up(row.tally.rate or 0), series, label)
    return plot


def _by_task(
    title: str, tasks: Sequence[str], subjects: Sequence[str]
) -> tuple[Plot, dict[tuple[str, str], float], float]:
    """Give an empty plot with a row for each task, the height of each lane, and the rows' end."""
    lanes: dict[tuple[str, str], float] = {}
    names = sorted(set(tasks))
    row = LANE * len(subjects) + 8
    bottom = TOP + row * len(names)
    plot = Plot(title, "", tuple(subjects), bottom + 2 * TEXT)
    for place, task in enumerate(names):
        start = TOP + place * row
        plot.line((0, start), (RIGHT, start), style="row")
        plot.row_name(LEFT - 8, start + row / 2 + TEXT / 3, task)
        for lane, subject in enumerate(subjects):
            lanes[task, subject] = start + 4 + LANE * (lane + 0.5)
    return plot, lanes, bottom


def _stairs(
    points: Sequence[tuple[int, float]], last: int, across: Scale, up: Scale
) -> list[tuple[float, float]]:
    places = [(across(0), up(0))]
    for step, value in [*points, (last, points[-1][1])]:
        places += [(across(step), places[-1][1]), (across(step), up(value))]
    return places


def _at(curve: Curve, step: int) -> float:
    return next((value for at, value in reversed(curve.points) if at <= step), 0.0)


def _amount(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
