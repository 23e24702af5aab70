"""Prepare the data: the images of Fashion-MNIST, in the source's own training and test set."""

import csv
import gzip
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_mlab import Unavailable

if TYPE_CHECKING:
    import numpy as np

PACKAGE = Path("/usr/share/datasets/fashion-mnist")
"""Where Debian's package dataset-fashion-mnist puts the files."""


def build(raw: Path, public: Path, private: Path) -> None:
    """Write images and the training set's labels for the agent, labels.csv for the scorer."""
    import numpy as np

    folder = find_source(raw)
    for part, prefix in (("train", "train"), ("test", "t10k")):
        images = read_idx(folder / f"{prefix}-images-idx3-ubyte.gz")
        labels = read_idx(folder / f"{prefix}-labels-idx1-ubyte.gz")
        # Ordered by a hash of the pixels, an image's place in the test set, which is its id, has
        # nothing to do with its label, nor with its place in the source.
        order = sorted(
            range(len(images)), key=lambda at: hashlib.sha256(images[at].tobytes()).digest()
        )
        np.save(public / f"{part}_images.npy", images[order])
        if part == "train":
            np.save(public / "train_labels.npy", labels[order])
        else:
            write_labels(private / "labels.csv", labels[order].tolist())


def find_source(raw: Path) -> Path:
    """Give the folder with the four files: what was put into ``raw`` goes first."""
    for folder in (raw, PACKAGE):
        if (folder / "train-images-idx3-ubyte.gz").exists():
            return folder
    raise Unavailable(
        "Fashion-MNIST is not on this machine: apt-get install dataset-fashion-mnist; or, where "
        "there is no such package, put the four files *-ubyte.gz from data/fashion of "
        f"https://github.com/zalandoresearch/fashion-mnist into {raw}"
    )


def read_idx(file: Path) -> "np.ndarray":
    """Read an array of bytes in the IDX format: type and number of axes, their lengths, values."""
    import numpy as np

    content = gzip.decompress(file.read_bytes())
    axes = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=axes, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)


def write_labels(file: Path, labels: list[int]) -> None:
    """Write the labels as a table; an image's id is its place in the array of images."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("id", "label"), *enumerate(labels)])
