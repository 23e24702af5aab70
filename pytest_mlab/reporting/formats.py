"""Figures as people read them: rates with intervals, scores, durations, amounts."""

import math

from pytest_mlab.reporting.summary import Tally
from pytest_mlab.statistics import Interval

NOTHING = "–"


def format_rate(tally: Tally) -> str:
    """Give a success rate with its interval, in per cent: ``38 % [14, 69]``."""
    if tally.rate is None:
        return NOTHING
    return f"{format_percent(tally.rate)} {format_interval(tally.interval)}"


def format_percent(rate: float) -> str:
    """Give a rate in per cent; 1 of 250 is not none, and 249 of 250 is not all."""
    if 0 < rate < 0.005:
        return "<1 %"
    if 0.995 < rate < 1:
        return ">99 %"
    return f"{rate:.0%}".replace("%", " %")


def format_interval(interval: Interval, digits: str = ".0f") -> str:
    """Give an interval in per cent, an infinite end as such: ``[14, 69]``."""
    low, high = (
        format(end * 100, digits) if math.isfinite(end) else "∞" if end > 0 else "-∞"
        for end in interval
    )
    return f"[{low}, {high}]"


def format_number(value: float | None, digits: str = ".6g") -> str:
    """Give a score or a mean with the digits that matter."""
    return NOTHING if value is None else format(value, digits)


def format_seconds(seconds: float | None) -> str:
    """Give a duration in the unit that leaves two or three digits."""
    if seconds is None:
        return NOTHING
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def format_count(count: int, noun: str) -> str:
    """Give a number of things: ``1 step``, ``2 steps``."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{count} {noun}{'' if count == 1 else plural}"
