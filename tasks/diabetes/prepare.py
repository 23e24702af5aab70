"""Prepare the data: scikit-learn's diabetes patients, split into a training and a test set."""

import csv
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

TRAINING_ROWS = 242
MEASUREMENTS = ["age", "sex", "bmi", "bp", "tc", "ldl", "hdl", "tch", "ltg", "glu"]


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer."""
    from sklearn.datasets import load_diabetes

    source = load_diabetes(scaled=False)
    # Six digits are all the source has; the last bits of its floats differ between versions.
    rows = [
        ([f"{value:.6g}" for value in measured], f"{progression:.6g}")
        for measured, progression in zip(source.data, source.target, strict=True)
    ]
    # Ordered by a hash of the measurements, neither a row's place nor its id has anything to do
    # with its target, even for who knows this file.
    rows.sort(key=lambda row: hashlib.sha256(",".join(row[0]).encode()).digest())
    numbered = [(str(number), *row) for number, row in enumerate(rows, start=1)]
    train, test = numbered[:TRAINING_ROWS], numbered[TRAINING_ROWS:]
    write(
        public / "train.csv",
        ["id", *MEASUREMENTS, "progression"],
        ([name, *measured, progression] for name, measured, progression in train),
    )
    write(
        public / "test.csv",
        ["id", *MEASUREMENTS],
        ([name, *measured] for name, measured, _ in test),
    )
    write(
        private / "labels.csv",
        ["id", "progression"],
        ([name, progression] for name, _, progression in test),
    )


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
