"""Prepare the data: molecules and how strongly they bind to the dopamine D3 receptor."""

import csv
import hashlib
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path

TARGET = "CHEMBL234_Ki"


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer; the source's split."""
    rows = sorted(read_source(), key=lambda row: hashlib.sha256(row["smiles"].encode()).digest())
    rows.sort(key=lambda row: row["split"] == "test")
    numbered = list(enumerate(rows, start=1))
    train = [
        (number, row["smiles"], row["y"]) for number, row in numbered if row["split"] == "train"
    ]
    test = [(number, row["smiles"], row["y"]) for number, row in numbered if row["split"] == "test"]
    write(public / "train.csv", ["id", "smiles", "affinity"], train)
    write(public / "test.csv", ["id", "smiles"], (row[:2] for row in test))
    write(private / "labels.csv", ["id", "affinity"], ((row[0], row[2]) for row in test))


def read_source() -> list[dict[str, str]]:
    """Read the package's table: SMILES, affinity and part of the split of each molecule."""
    package = importlib.util.find_spec("MoleculeACE")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).parent / "Data" / "benchmark_data" / f"{TARGET}.csv"
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
