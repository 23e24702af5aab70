"""The task on the progression of Parkinson's disease, on patients made up here."""

import csv
import io
import random
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTask, load_scorer, read, write

ARCHIVE = "amp-parkinsons-disease-progression-prediction.zip"
CLINICAL = [
    *("visit_id", "patient_id", "visit_month", "updrs_1", "updrs_2", "updrs_3", "updrs_4"),
    "upd23b_clinical_state_on_medication",
]
PROTEINS = ["visit_id", "visit_month", "patient_id", "UniProt", "NPX"]
PEPTIDES = ["visit_id", "visit_month", "patient_id", "UniProt", "Peptide", "PeptideAbundance"]
CODES = ["O00391", "O00533", "O00584", "O14773", "P02787", "Q92823"]
PATIENTS = 150
SUPPLEMENTAL = 40
TYPICAL = (7, 6, 20, 2)


def invent_source(spoil: frozenset[str] = frozenset()) -> dict[str, list[list[object]]]:
    """Invent the tables; the ratings of patients in ``spoil`` are others, and nothing else."""
    draw, other = random.Random(0), random.Random(1)
    tables: dict[str, list[list[object]]] = {
        "train_clinical_data.csv": [],
        "supplemental_clinical_data.csv": [],
        "train_proteins.csv": [],
        "train_peptides.csv": [],
    }
    for patient in draw.sample(range(1000, 65000), PATIENTS + SUPPLEMENTAL):
        sampled = len({row[1] for row in tables["train_clinical_data.csv"]}) < PATIENTS
        clinical = tables[f"{'train' if sampled else 'supplemental'}_clinical_data.csv"]
        severity = draw.lognormvariate(0, 0.9)
        for month in sorted({0, *draw.sample((3, 6, 12, 18, 24, 36, 48, 60, 84), 5)}):
            visit = f"{patient}_{month}"
            ratings = [rate(draw, severity, typical, month) for typical in TYPICAL]
            if str(patient) in spoil:
                ratings = [rating and f"{other.randrange(60)}.0" for rating in ratings]
            medication = draw.choice(["", "", "On", "Off"])
            clinical.append([visit, patient, month, *ratings, medication])
            if sampled and draw.random() < 0.5:
                for code in CODES:
                    level = draw.lognormvariate(9, 0.4) * severity**0.5
                    tables["train_proteins.csv"].append(
                        [visit, month, patient, code, f"{level:.6g}"]
                    )
                    peptide = "".join(draw.choices("ACDEFGHIKLMNPQRSTVWY", k=9))
                    amount = f"{level * draw.random():.6g}"
                    tables["train_peptides.csv"].append(
                        [visit, month, patient, code, peptide, amount]
                    )
    return tables


def rate(draw: random.Random, severity: float, typical: int, month: int) -> str:
    """Draw a rating: skewed, growing with time, for the last part often 0 or missing."""
    rating = draw.lognormvariate(0, 0.4) * severity * typical * (1 + month / 200)
    if typical == 2 and draw.random() < 0.5:
        return draw.choice(["", "0.0"])
    return f"{min(round(rating), 100)}.0"


def write_archive(raw: Path, tables: dict[str, list[list[object]]]) -> None:
    """Write the competition's archive as Kaggle gives it, but for files that have no data."""
    headers = {"train_proteins.csv": PROTEINS, "train_peptides.csv": PEPTIDES}
    with zipfile.ZipFile(raw / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("public_timeseries_testing_util.py", "")
        archive.writestr("example_test_files/test.csv", "")
        for name, rows in tables.items():
            archive.writestr(name, spell(headers.get(name, CLINICAL), rows))


def spell(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give the text of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


class TestParkinsonsDisease(BundledTask):
    name = "parkinsons-disease"

    def write_raw(self, raw: Path) -> None:
        write_archive(raw, invent_source())

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        asked = {row["patient_id"] for row in read(data.public / "test.csv")}
        write_archive(raw, invent_source(spoil=frozenset(asked)))

    def test_a_fifth_of_the_patients_is_in_the_test_files_alone(self, data: PreparedData) -> None:
        patients = {
            file.name: {row["patient_id"] for row in read(file)} for file in data.public.iterdir()
        }
        assert len(patients["test.csv"]) == PATIENTS // 5
        for name, here in patients.items():
            if name.startswith("test"):
                assert here <= patients["test.csv"]
            else:
                assert not here & patients["test.csv"]
        assert len(patients["supplemental_clinical_data.csv"]) == SUPPLEMENTAL

    def test_nothing_from_the_source_is_lost(self, data: PreparedData) -> None:
        source = invent_source()
        for kind in ("proteins", "peptides"):
            rows = [
                row
                for part in ("train", "test")
                for row in read(data.public / f"{part}_{kind}.csv")
            ]
            assert len(rows) == len(source[f"train_{kind}.csv"])

    def test_what_is_asked_does_not_tell_which_visits_took_place(self, data: PreparedData) -> None:
        """Every visit is asked about at every distance, up to the study's end."""
        rows = read(data.public / "test.csv")
        visits = {(row["patient_id"], int(row["visit_month"])) for row in rows}
        assert len(rows) == 4 * sum(
            month + ahead <= 108 for _, month in visits for ahead in (0, 6, 12, 24)
        )
        assert {*rows[0]} == {
            *("prediction_id", "visit_id", "patient_id", "visit_month", "updrs", "months_ahead")
        }

    def test_the_answers_are_the_ratings_of_the_visits_that_took_place(
        self, data: PreparedData
    ) -> None:
        visits = {str(row[0]): row for row in invent_source()["train_clinical_data.csv"]}
        labels = {row["prediction_id"]: row["rating"] for row in read(data.private / "labels.csv")}
        for row in read(data.public / "test.csv"):
            month = int(row["visit_month"]) + int(row["months_ahead"])
            visit = visits.get(f"{row['patient_id']}_{month}")
            expected = "" if visit is None else visit[2 + int(row["updrs"])]
            assert labels[row["prediction_id"]] == expected
        assert 0 < sum(map(bool, labels.values())) < len(labels)


class TestTheMetric:
    HEADER = ("prediction_id", "rating")

    def score(self, folder: Path, truth: Sequence[object], given: Sequence[object]) -> float:
        names = [f"1_0_updrs_{number}_plus_0_months" for number in range(len(truth))]
        write(folder / "labels.csv", self.HEADER, zip(names, truth, strict=True))
        rows = zip(names, given, strict=True)
        submission = write(folder / "submission.csv", self.HEADER, rows)
        return load_scorer("parkinsons-disease")(submission, folder)

    @pytest.mark.parametrize(
        ("truth", "given", "percent"),
        [
            pytest.param([5, 0, 12], [5, 0, 12], 0.0, id="all right"),
            pytest.param([0], [2], 100.0, id="2 / (1 + 1)"),
            pytest.param([2], [0], 100.0, id="the same the other way round"),
            pytest.param([4], [1], 600 / 7, id="3 / (2.5 + 1)"),
            pytest.param([3, "", ""], [3, 99, 0], 0.0, id="no visit, not counted"),
            pytest.param([0], [1e300], 200.0, id="as bad as can be"),
        ],
    )
    def test_cases_by_hand(
        self, tmp_path: Path, truth: list[object], given: list[object], percent: float
    ) -> None:
        assert self.score(tmp_path, truth, given) == pytest.approx(percent)

    def test_is_the_plain_smape_of_ratings_plus_one(self, tmp_path: Path) -> None:
        random = np.random.default_rng(0)
        truth, given = random.integers(60, size=50), random.uniform(0, 60, size=50)
        a, b = truth + 1.0, given + 1.0
        expected = 100 * np.mean(np.abs(a - b) / ((np.abs(a) + np.abs(b)) / 2))
        assert self.score(tmp_path, truth.tolist(), given.tolist()) == pytest.approx(expected)

    def test_a_rating_below_zero_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidSubmission, match="is -1; no rating is below 0"):
            self.score(tmp_path, [1, 1], [0, -1])
