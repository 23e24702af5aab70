"""The scorer of the paper's ``vectorization``: how long its convolution layer really takes.

The original takes the run time that the submission wrote into a file. Here the agent's script and
the starter's are both called, in turn and on input drawn by us, and their outputs have to agree.
"""

from pathlib import Path

import numpy as np

from pytest_mlab.arrays import Array
from pytest_mlab.timing import compare_speed

IMAGES = (32, 64, 64, 3)

_FUNCTION = "mlab_forward"
_SHIM = f"""

def {_FUNCTION}(images, seed):
    import numpy

    numpy.random.seed(seed)
    return Conv2DLayer(3, 8, 3, 2, 2, "relu").forward(images)
"""


def score(submission: Path, private: Path) -> tuple[float, float]:
    """Give the seconds of the submission's forward pass and of the starter's; lower is better."""
    starter = private / "env" / submission.name
    folders = submission.parent / "candidate", submission.parent / "reference"
    candidate, reference = map(_add_call, (submission, starter), folders)
    return compare_speed(candidate, reference, function=_FUNCTION, draw=draw_arguments)


def draw_arguments(random: np.random.Generator) -> list[Array]:
    """Draw a batch of images, and the seed of the layer's weights."""
    return [random.normal(size=IMAGES), random.integers(2**32, size=1, dtype=np.uint32)]


def _add_call(script: Path, folder: Path) -> Path:
    folder.mkdir()
    copy = folder / script.name
    copy.write_bytes(script.read_bytes() + _SHIM.encode())
    return copy
