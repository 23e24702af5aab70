"""Two sets of trials compared task by task: is the difference more than chance?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Literal

from pytest_mlab.exceptions import UsageError
from pytest_mlab.statistics import CONFIDENCE, Interval, wilson_interval

Counts = tuple[int, int]
"""Successes and trials."""

Alternative = Literal["two-sided", "less", "greater"]

TIES = 1 + 1e-7
"""Outcomes whose probabilities differ by no more than rounding are equally probable."""


@dataclass(frozen=True)
class TaskComparison:
    """One task in both sets; ``adjusted`` is its p-value corrected for the number of tasks."""

    task: str
    before: Counts
    after: Counts
    p_value: float
    adjusted: float


@dataclass(frozen=True)
class Comparison:
    """The second set of trials against the first, on the tasks that both have.

    ``difference`` is the mean over those tasks of the second rate less the first, and ``interval``
    its interval for these very tasks.
    """

    difference: float
    interval: Interval
    p_value: float
    tasks: tuple[TaskComparison, ...]
    unpaired: tuple[str, ...]


def compare(before: Mapping[str, Counts], after: Mapping[str, Counts]) -> Comparison:
    """Compare two sets of trials, given as successes and trials by task.

    `UsageError` where they have no task in common.
    """
    names = sorted(before.keys() & after.keys())
    if not names:
        raise UsageError("the two sets have no task in common")
    pairs = [(before[name], after[name]) for name in names]
    p_values = [exact_test([pair]) for pair in pairs]
    tasks = [
        TaskComparison(name, first, second, p_value, adjusted)
        for name, (first, second), p_value, adjusted in zip(
            names, pairs, p_values, holm(p_values), strict=True
        )
    ]
    difference, interval = rate_difference(pairs)
    unpaired = tuple(sorted(before.keys() ^ after.keys()))
    return Comparison(difference, interval, exact_test(pairs), tuple(tasks), unpaired)


def exact_test(
    pairs: Sequence[tuple[Counts, Counts]], alternative: Alternative = "two-sided"
) -> float:
    """Give the p-value of the second set having the same success rate as the first on every task.

    The exact conditional test of Fisher, stratified by task (exact Cochran-Mantel-Haenszel): of
    all ways to deal each task's successes out to its trials, the share that is as far out as what
    happened. It is the permutation test that shuffles trials between the sets within each task.
    ``less`` asks whether the second set is worse, ``greater`` whether it is better.
    """
    import numpy as np

    chances, low = np.ones(1), 0
    for (first, first_trials), (second, second_trials) in pairs:
        successes = first + second
        fewest, most = max(0, successes - first_trials), min(successes, second_trials)
        ways = [
            math.comb(second_trials, count) * math.comb(first_trials, successes - count)
            for count in range(fewest, most + 1)
        ]
        total = sum(ways)
        chances = np.convolve(chances, [way / total for way in ways])
        low += fewest
    place = sum(second for _, (second, _) in pairs) - low
    if alternative == "less":
        p_value = chances[: place + 1].sum()
    elif alternative == "greater":
        p_value = chances[place:].sum()
    else:
        p_value = chances[chances <= chances[place] * TIES].sum()
    return min(float(p_value), 1.0)


def rate_difference(
    pairs: Sequence[tuple[Counts, Counts]], confidence: float = CONFIDENCE
) -> tuple[float, Interval]:
    """Give the mean over tasks of the second rate less the first, with its interval.

    The interval recovers the variances from Wilson's interval of each rate (Newcombe 1998; Zou &
    Donner 2008); it is about these very tasks, not about tasks that might have been asked.
    """
    difference = fmean(_rate(second) - _rate(first) for first, second in pairs)
    below = above = 0.0
    for first, second in pairs:
        first_low, first_high = wilson_interval(*first, confidence)
        second_low, second_high = wilson_interval(*second, confidence)
        below += (_rate(second) - second_low) ** 2 + (first_high - _rate(first)) ** 2
        above += (second_high - _rate(second)) ** 2 + (_rate(first) - first_low) ** 2
    tasks = len(pairs)
    low, high = difference - math.sqrt(below) / tasks, difference + math.sqrt(above) / tasks
    return difference, (max(low, -1.0), min(high, 1.0))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's method (1979), in the order given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(order):
        largest = max(largest, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(largest, 1.0)
    return adjusted


def trials_needed(
    before: float, after: float, power: float = 0.8, confidence: float = CONFIDENCE
) -> int:
    """Give the number of trials in each set with which two rates will be told apart.

    ``power`` is the probability that they will. For Fisher's exact test, two-sided, by the
    formula of Fleiss, Tytun & Ury (1980). ValueError where the rates are the same.
    """
    gap = abs(after - before)
    if gap == 0:
        raise ValueError(f"both rates are {before}; no number of trials tells them apart")
    alpha, beta = NormalDist().inv_cdf((1 + confidence) / 2), NormalDist().inv_cdf(power)
    mean = (before + after) / 2
    chance = alpha * math.sqrt(2 * mean * (1 - mean))
    apart = beta * math.sqrt(before * (1 - before) + after * (1 - after))
    trials = (chance + apart) ** 2 / gap**2
    return math.ceil(trials / 4 * (1 + math.sqrt(1 + 4 / (trials * gap))) ** 2)


def smallest_drop(
    rate: float, trials: int, power: float = 0.8, confidence: float = CONFIDENCE
) -> float | None:
    """Give the smallest drop from a rate that so many trials in each set would show.

    None where not even a drop to zero would show.
    """
    if rate == 0 or trials_needed(rate, 0, power, confidence) > trials:
        return None
    seen, missed = 0.0, rate
    while missed - seen > 1e-6:
        middle = (seen + missed) / 2
        if trials_needed(rate, middle, power, confidence) > trials:
            missed = middle
        else:
            seen = middle
    return rate - seen


def _rate(counts: Counts) -> float:
    successes, trials = counts
    return successes / trials
