"""Score a submission: the run time of its convolution layer, beside the starter's."""

from pathlib import Path

import numpy as np

from pytest_mlab.arrays import Array
from pytest_mlab.timing import compare_speed

IMAGES = (32, 64, 64, 3)
FILTERS = (3, 3, 3, 3)


def score(submission: Path, private: Path) -> tuple[float, float]:
    """Give the seconds of the submission's forward pass and of the starter's; lower is better."""
    return compare_speed(
        submission, private / "convolution.py", function="convolve", draw=draw_layer, rounds=11
    )


def draw_layer(random: np.random.Generator) -> list[Array]:
    """Draw a batch of images, and the filters and the bias of a layer."""
    return [random.normal(size=shape) for shape in (IMAGES, FILTERS, FILTERS[-1:])]
