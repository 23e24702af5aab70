"""Rates, means and their intervals, from few trials; what they assume is said with each.

What every session needs is written with the standard library alone; NumPy and SciPy are loaded by
the functions that a report calls.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean

CONFIDENCE = 0.95

Interval = tuple[float, float]

CHUNK = 2**20
"""How many values are drawn at a time, which bounds the memory that resampling takes."""


def wilson_interval(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Give Wilson's score interval of a rate, in [0, 1]; (0, 1) where there are no trials.

    Wilson (1927); unlike the textbook interval it never leaves [0, 1] and is not empty at 0 of n.
    """
    if trials == 0:
        return 0.0, 1.0
    return _score_interval(successes / trials, trials, _normal_quantile(confidence))


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """Estimate the probability that at least one of ``k`` trials succeeds.

    Without bias (Chen et al. 2021, arXiv 2107.03374): the share of the draws of ``k`` out of the
    trials that hold a success. ValueError where there are fewer than ``k`` trials.
    """
    return 1 - pass_hat_k(trials - successes, trials, k)


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """Estimate the probability that all of ``k`` trials succeed, written pass^k.

    Without bias (Yao et al. 2024, arXiv 2406.12045). ValueError where there are fewer than ``k``
    trials.
    """
    if not 1 <= k <= trials:
        raise ValueError(f"k is {k}, which has to be from 1 to the number of trials, {trials}")
    return math.comb(successes, k) / math.comb(trials, k)


def bootstrap_interval(
    values: Sequence[float],
    confidence: float = CONFIDENCE,
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Give the bootstrap-t interval of a mean; the same values and seed give the same interval.

    Resampled means are divided by their own standard errors (Efron & Tibshirani 1993, chapter
    12): with the 4 to 16 trials of a task it covers what it promises, where the percentile and
    BCa bootstraps cover 75 to 90 %. An end is infinite where the values are too few or too much
    alike to tell.
    """
    import numpy as np

    data = np.asarray(values, dtype=float)
    if data.size < 2:
        return -math.inf, math.inf
    mean, error = float(data.mean()), float(data.std(ddof=1)) / math.sqrt(data.size)
    noise = data.size * math.ulp(float(np.abs(data).max()))  # what rounding makes of equal values
    if error <= noise:
        return mean, mean
    generator = np.random.default_rng(seed)
    rows = max(CHUNK // data.size, 1)
    pivots = []
    for start in range(0, resamples, rows):
        drawn = generator.choice(data, size=(min(rows, resamples - start), data.size))
        shift = drawn.mean(axis=1) - mean
        errors = drawn.std(axis=1, ddof=1) / math.sqrt(data.size)
        errors[errors <= noise] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            pivots.append(np.where(np.abs(shift) <= noise, 0, shift / errors))
    tails = (1 - confidence) / 2, (1 + confidence) / 2
    low, high = np.quantile(np.concatenate(pivots), tails, method="inverted_cdf")
    return mean - float(high) * error, mean - float(low) * error


def average_rate(
    counts: Sequence[tuple[int, int]], confidence: float = CONFIDENCE
) -> tuple[float, Interval]:
    """Average the success rates of tasks, each given as successes and trials.

    Every task has the same weight. The interval takes the tasks for a sample of all tasks that
    might have been asked: trials of one task are no independent evidence (they form a cluster),
    so what counts is how the tasks differ. It is Wilson's interval for the number of independent
    trials that would say as much, and for Student's t with one degree less than there are tasks
    (Korn & Graubard 1998; Dean & Pagano 2015). One task says nothing about others: (0, 1).
    """
    rates = [successes / trials for successes, trials in counts]
    rate, tasks = fmean(rates), len(rates)
    if tasks == 1:
        return rate, (0.0, 1.0)
    trials = sum(trials for _, trials in counts)
    variance = sum((each - rate) ** 2 for each in rates) / (tasks - 1) / tasks
    # tasks that happen to agree are no more evidence than as many independent trials
    effective = min(rate * (1 - rate) / variance, trials) if variance > 0 else trials
    return rate, _score_interval(rate, effective, _student_quantile(confidence, tasks - 1))


def average_mean(
    groups: Sequence[Sequence[float]], confidence: float = CONFIDENCE
) -> tuple[float, Interval]:
    """Average the means of tasks, each given as its trials' values, with the tasks as clusters.

    Every task has the same weight; the interval is Student's t over the tasks' means, infinite
    for a single task.
    """
    means = [fmean(group) for group in groups]
    mean, tasks = fmean(means), len(means)
    if tasks == 1:
        return mean, (-math.inf, math.inf)
    variance = sum((each - mean) ** 2 for each in means) / (tasks - 1) / tasks
    half = _student_quantile(confidence, tasks - 1) * math.sqrt(variance)
    return mean, (mean - half, mean + half)


def student_t_tail(t: float, degrees: int) -> float:
    """Give the probability that Student's t exceeds ``t``; 0.5 where there are no degrees.

    The finite series for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4), which
    spares every start of pytest the loading of SciPy.
    """
    if degrees < 1:
        return 0.5
    theta = math.atan(t / math.sqrt(degrees))
    cosine_squared = math.cos(theta) ** 2
    term = math.sin(theta) * (math.cos(theta) if degrees % 2 else 1.0)
    series = 0.0
    for k in range(degrees // 2):
        series += term
        step = (2 * k + 2) / (2 * k + 3) if degrees % 2 else (2 * k + 1) / (2 * k + 2)
        term *= step * cosine_squared
    within = 2 / math.pi * (theta + series) if degrees % 2 else series
    return (1 - within) / 2


def _score_interval(rate: float, trials: float, quantile: float) -> Interval:
    shrink = 1 + quantile**2 / trials
    centre = (rate + quantile**2 / (2 * trials)) / shrink
    spread = rate * (1 - rate) / trials + quantile**2 / (4 * trials**2)
    half = quantile / shrink * math.sqrt(spread)
    low = 0.0 if rate == 0 else centre - half
    high = 1.0 if rate == 1 else centre + half
    return low, high


def _normal_quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _student_quantile(confidence: float, degrees: int) -> float:
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # has no stubs

    return float(stdtrit(degrees, (1 + confidence) / 2))
