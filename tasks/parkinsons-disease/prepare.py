"""Prepare the data: Kaggle's patients with Parkinson's disease, a fifth of them for the test."""

import csv
import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_mlab.download import fetch_competition

COMPETITION = "amp-parkinsons-disease-progression-prediction"
PARTS = (1, 2, 3, 4)
MONTHS_AHEAD = (0, 6, 12, 24)
LAST_MONTH = 108
ASKED = ["visit_id", "patient_id", "visit_month", "updrs", "months_ahead"]
ID = "prediction_id"

Row = dict[str, str]


def download(raw: Path) -> None:
    """Fetch the competition's files."""
    fetch_competition(COMPETITION, raw)


def build(raw: Path, public: Path, private: Path) -> None:
    """Write the training and the test patients' files for the agent, labels.csv for the scorer."""
    with zipfile.ZipFile(raw / f"{COMPETITION}.zip") as archive:
        clinical = list(read(archive, "train_clinical_data.csv"))
        tested = choose_patients(row["patient_id"] for row in clinical)
        for name in ("train_clinical_data.csv", "supplemental_clinical_data.csv"):
            rows = read(archive, name)
            write(public / name, (row for row in rows if row["patient_id"] not in tested))
        for kind in ("proteins", "peptides"):
            for part, wanted in (("train", False), ("test", True)):
                rows = read(archive, f"train_{kind}.csv")
                write(
                    public / f"{part}_{kind}.csv",
                    (row for row in rows if (row["patient_id"] in tested) == wanted),
                )
    questions = list(ask([row for row in clinical if row["patient_id"] in tested]))
    write(public / "test.csv", questions, [ID, *ASKED])
    write(private / "labels.csv", questions, [ID, "rating"])


def choose_patients(patients: Iterable[str]) -> set[str]:
    """Choose a fifth of the patients, by a hash of their numbers."""
    ordered = sorted(set(patients), key=lambda name: hashlib.sha256(name.encode()).digest())
    return set(ordered[: len(ordered) // 5])


def ask(visits: Sequence[Row]) -> Iterator[Row]:
    """Give what is asked about visits, with the rating, which is empty where there is none.

    The question does not tell whether the visit that it is about took place.
    """
    by_month = {(row["patient_id"], int(row["visit_month"])): row for row in visits}
    for (patient, month), visit in by_month.items():
        for part in PARTS:
            for ahead in MONTHS_AHEAD:
                if month + ahead <= LAST_MONTH:
                    later = by_month.get((patient, month + ahead), {})
                    yield {
                        ID: f"{patient}_{month}_updrs_{part}_plus_{ahead}_months",
                        "visit_id": visit["visit_id"],
                        "patient_id": patient,
                        "visit_month": str(month),
                        "updrs": str(part),
                        "months_ahead": str(ahead),
                        "rating": later.get(f"updrs_{part}", ""),
                    }


def read(archive: zipfile.ZipFile, name: str) -> Iterator[Row]:
    """Give the rows of a CSV file, which may be large, one by one."""
    with archive.open(name) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        yield from csv.DictReader(text)


def write(file: Path, rows: Iterable[Row], columns: Sequence[str] = ()) -> None:
    """Write rows as a CSV file: these columns, or all."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(
                    stream, columns or [*row], extrasaction="ignore", lineterminator="\n"
                )
                writer.writeheader()
            writer.writerow(row)
