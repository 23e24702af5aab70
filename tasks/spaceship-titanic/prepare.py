"""Prepare the data: Kaggle's passengers of the spaceship Titanic, split as the original does."""

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_mlab.download import fetch_competition

COMPETITION = "spaceship-titanic"
TARGET = "Transported"
TRAINING_PART = 0.8


def download(raw: Path) -> None:
    """Fetch the competition's files."""
    fetch_competition(COMPETITION, raw)


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer."""
    with zipfile.ZipFile(raw / f"{COMPETITION}.zip") as archive:
        text = archive.read("train.csv").decode("utf-8")
    reader = csv.DictReader(io.StringIO(text))
    columns = [name for name in reader.fieldnames or () if name != TARGET]
    passengers = list(reader)
    cut = int(len(passengers) * TRAINING_PART)
    while group_of(passengers[cut]) == group_of(passengers[cut - 1]):
        cut += 1
    train, test = passengers[:cut], passengers[cut:]
    write(public / "train.csv", [*columns, TARGET], train)
    write(public / "test.csv", columns, test)
    write(private / "labels.csv", ["PassengerId", TARGET], test)


def group_of(passenger: dict[str, str]) -> str:
    """Give the group that a passenger travels with."""
    return passenger["PassengerId"].partition("_")[0]


def write(file: Path, columns: Sequence[str], rows: Iterable[dict[str, str]]) -> None:
    """Write these columns of rows as a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
