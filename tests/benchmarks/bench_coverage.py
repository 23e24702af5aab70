"""How often a 95 % interval of the mean improvement holds the true mean: ours beside BCa.

``python -m tests.benchmarks.bench_coverage``
"""

from collections.abc import Callable

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from pytest_mlab.statistics import bootstrap_interval

Draw = Callable[[np.random.Generator, int], "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"]

SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda generator, size: generator.normal(size=size), 0.0),
    "skewed (exponential)": (lambda generator, size: generator.exponential(size=size), 1.0),
    "long tail (lognormal)": (lambda generator, size: generator.lognormal(size=size), np.exp(0.5)),
}
SAMPLES = 1000


def main() -> None:
    """Draw samples of known means and count how many intervals hold them."""
    print(f"{'values':21} {'trials':>6} {'bootstrap-t':>12} {'BCa':>6}")
    for shape, (draw, mean) in SHAPES.items():
        for size in (4, 8):
            generator = np.random.default_rng(0)
            ours = theirs = 0
            for _ in range(SAMPLES):
                values = draw(generator, size)
                low, high = bootstrap_interval(list(values))
                ours += low <= mean <= high
                bca = stats.bootstrap((values,), np.mean, n_resamples=2000, rng=generator)
                interval = bca.confidence_interval
                theirs += interval.low <= mean <= interval.high
            print(f"{shape:21} {size:6} {ours / SAMPLES:12.0%} {theirs / SAMPLES:6.0%}")


if __name__ == "__main__":
    main()
