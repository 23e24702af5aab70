"""A test that looks at its data in rounds and may stop at each: how many successes are enough."""

import math
from collections.abc import Sequence

EXPONENT = 2
"""A look at a share t of all trials may have used t squared of the error that is allowed."""


def spend(error: float, share: float) -> float:
    """Give the probability of error that may be used up by a share of all trials.

    The power family of Kim & DeMets (1987): little early, when a stop would be rash, and all of it
    at the end.
    """
    return error * share**EXPONENT


def enough_successes(sizes: Sequence[int], rate: float, error: float) -> list[int]:
    """Give for each look the number of successes that shows a rate of at least ``rate``.

    ``sizes`` are the trials at each look, all rounds before it included, as planned beforehand. If
    the true rate is below ``rate``, the probability of having enough at one look or another is at
    most ``error``: a group-sequential test by error spending (Lan & DeMets 1983; Jennison &
    Turnbull 1999, chapters 7 and 12), with the binomial distribution itself instead of a normal
    approximation. A look at which nothing would be enough gets one more than its trials.

    Where trials are of several tasks, ``rate`` is that of all together: tasks that differ make the
    number of successes vary less, so that the error is less too.
    """
    bounds = []
    going, spent, before = [1.0], 0.0, 0
    for size in sizes:
        going = _add_trials(going, size - before, rate)
        allowed = spend(error, size / sizes[-1])
        bound, tail = size + 1, 0.0
        while bound > 0 and spent + tail + _at(going, bound - 1) <= allowed:
            bound -= 1
            tail += _at(going, bound)
        spent += tail
        bounds.append(bound)
        going, before = going[:bound], size
    return bounds


def _add_trials(going: Sequence[float], trials: int, rate: float) -> list[float]:
    """Give the distribution of successes after some more trials."""
    added = [
        math.comb(trials, count) * rate**count * (1 - rate) ** (trials - count)
        for count in range(trials + 1)
    ]
    sums = [0.0] * (len(going) + trials)
    for first, chance in enumerate(going):
        for more, share in enumerate(added):
            sums[first + more] += chance * share
    return sums


def _at(distribution: Sequence[float], count: int) -> float:
    return distribution[count] if count < len(distribution) else 0.0
