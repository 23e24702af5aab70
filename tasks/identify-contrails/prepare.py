"""Prepare the data: satellite images with and without contrails, of a Kaggle competition."""

import csv
import io
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_mlab import InfraError
from pytest_mlab.download import fetch_competition

if TYPE_CHECKING:
    import numpy as np

COMPETITION = "google-research-identify-contrails-reduce-global-warming"
MASK = "human_pixel_masks.npy"
PARTS = {"train": "train", "validation": "test"}
"""What parts of the source become; its own test set has two records, and no masks."""


def download(raw: Path) -> None:
    """Fetch the competition's archive, 450 GB."""
    fetch_competition(COMPETITION, raw)


def build(raw: Path, public: Path, private: Path) -> None:
    """Unpack the records for the agent, without the test set's masks, which go to labels.csv."""
    masks: list[tuple[str, str, int]] = []
    with zipfile.ZipFile(raw / f"{COMPETITION}.zip") as archive:
        for name in sorted(archive.namelist()):
            part, _, rest = name.partition("/")
            if part in PARTS and rest.endswith(".npy"):
                record, _, file = rest.partition("/")
                if PARTS[part] == "test" and file == MASK:
                    mask = read_mask(archive.read(name))
                    masks.append((record, encode(mask), mask.size))
                    continue
                unpack(archive, name, public / PARTS[part] / record / file)
            elif name in {f"{part}_metadata.json" for part in PARTS}:
                source = name.removesuffix("_metadata.json")
                unpack(archive, name, public / f"{PARTS[source]}_metadata.json")
    if not masks:
        raise InfraError(f"{raw / COMPETITION}.zip: has no validation/*/{MASK}")
    write(private / "labels.csv", ["record_id", "encoded_pixels", "pixels"], masks)


def unpack(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    """Copy a file out of the archive."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(name) as source, target.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)


def read_mask(content: bytes) -> "np.ndarray":
    """Give a mask, (rows, columns), as true and false."""
    import numpy as np

    return np.load(io.BytesIO(content), allow_pickle=False)[..., 0] > 0


def encode(mask: "np.ndarray") -> str:
    """Give a mask's runs as "start length start length …", counted from 1 down the columns."""
    import numpy as np

    pixels = np.concatenate([[False], mask.T.ravel(), [False]])
    edges = np.flatnonzero(pixels[1:] != pixels[:-1]) + 1
    runs = zip(edges[::2], edges[1::2] - edges[::2], strict=True)
    return " ".join(f"{start} {length}" for start, length in runs) or "-"


def write(file: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
