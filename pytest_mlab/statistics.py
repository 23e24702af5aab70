"""Success rates and their intervals."""

import math
from statistics import NormalDist

CONFIDENCE = 0.95


def wilson_interval(
    successes: int, trials: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Give Wilson's score interval of a rate, in [0, 1]; (0, 1) where there are no trials.

    Wilson (1927); unlike the textbook interval it never leaves [0, 1] and is not empty at 0 of n.
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / trials
    shrink = 1 + z**2 / trials
    centre = (rate + z**2 / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(rate * (1 - rate) / trials + z**2 / (4 * trials**2))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return low, high


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
