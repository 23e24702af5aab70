"""Prepare the data: essays of Kaggle's English language learners, split into training and test."""

import csv
import hashlib
import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_mlab.download import fetch_competition

COMPETITION = "feedback-prize-english-language-learning"
MEASURES = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]
TEST_PART = 0.25


def download(raw: Path) -> None:
    """Fetch the competition's files."""
    fetch_competition(COMPETITION, raw)


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer."""
    with zipfile.ZipFile(raw / f"{COMPETITION}.zip") as archive:
        text = archive.read("train.csv").decode("utf-8-sig")
    csv.field_size_limit(1 << 20)
    # Once each, should one be there twice.
    essays = {row["full_text"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
    # Kaggle's ids are a key to its labels, which are public. Ordered by a hash of the text, neither
    # an essay's place nor its id has anything to do with its scores, even for who knows this file.
    ordered = sorted(essays, key=lambda essay: hashlib.sha256(essay.encode()).digest())
    numbered = [
        [str(number), essay, *(essays[essay][measure] for measure in MEASURES)]
        for number, essay in enumerate(ordered, start=1)
    ]
    cut = len(numbered) - round(TEST_PART * len(numbered))
    train, test = numbered[:cut], numbered[cut:]
    write(public / "train.csv", ["text_id", "full_text", *MEASURES], train)
    write(public / "test.csv", ["text_id", "full_text"], (row[:2] for row in test))
    write(private / "labels.csv", ["text_id", *MEASURES], ([row[0], *row[2:]] for row in test))


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
