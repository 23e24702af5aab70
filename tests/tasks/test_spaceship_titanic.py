"""The task on the passengers of the spaceship Titanic, on passengers made up here."""

import csv
import io
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, read, write

ARCHIVE = "spaceship-titanic.zip"
COLUMNS = [
    *("PassengerId", "HomePlanet", "CryoSleep", "Cabin", "Destination", "Age", "VIP"),
    *("RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck", "Name", "Transported"),
]


def invent_passengers(number: int) -> list[dict[str, str]]:
    """Invent passengers; who sleeps is likelier to be transported, who spends is less so."""
    draw = random.Random(0)
    passengers: list[dict[str, str]] = []
    group = 0
    while len(passengers) < number:
        group += 1
        home = draw.choice(["Earth", "Europa", "Mars"])
        for place in range(1, draw.choice([1, 1, 1, 2, 4]) + 1):
            asleep = draw.random() < 0.35
            spending = [0 if asleep else draw.choice([0, draw.randrange(3000)]) for _ in range(5)]
            likely = 0.85 if asleep else 0.6 if sum(spending) < 1500 else 0.2
            values = [
                f"{group:04d}_{place:02d}",
                home,
                str(asleep),
                f"{draw.choice('ABCDEFG')}/{group}/{draw.choice('PS')}",
                draw.choice(["TRAPPIST-1e", "55 Cancri e", "PSO J318.5-22"]),
                f"{draw.randrange(80)}.0",
                str(draw.random() < 0.02),
                *(f"{amount}.0" for amount in spending),
                f"Ada {draw.choice(['Ofracculy', 'Susent', 'Vines'])}",
            ]
            known = [value if draw.random() > 0.02 else "" for value in values[1:]]
            answer = str(draw.random() < likely)
            passengers.append(dict(zip(COLUMNS, [values[0], *known, answer], strict=True)))
    return passengers


def write_archive(raw: Path, passengers: list[dict[str, str]]) -> None:
    """Write the competition's archive as Kaggle gives it."""
    with zipfile.ZipFile(raw / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, columns in (
            ("sample_submission.csv", ["PassengerId", "Transported"]),
            ("test.csv", COLUMNS[:-1]),
            ("train.csv", COLUMNS),
        ):
            text = io.StringIO(newline="")
            writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(passengers if name == "train.csv" else [])
            archive.writestr(name, text.getvalue())


class TestSpaceshipTitanic(BundledTable):
    name = "spaceship-titanic"
    target = "Transported"
    id_column = "PassengerId"

    def write_raw(self, raw: Path) -> None:
        write_archive(raw, invent_passengers(4000))

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        asked = {row["PassengerId"] for row in read(data.public / "test.csv")}
        passengers = invent_passengers(4000)
        for passenger in passengers:
            if passenger["PassengerId"] in asked:
                passenger["Transported"] = str(passenger["Transported"] == "False")
        write_archive(raw, passengers)

    def as_number(self, answer: str) -> float:
        return float(answer == "True")

    def test_the_split_is_the_originals_but_for_no_group_being_cut(
        self, data: PreparedData
    ) -> None:
        train, test = read(data.public / "train.csv"), read(data.public / "test.csv")
        source = invent_passengers(4000)
        assert [*train[0]] == COLUMNS
        assert [row["PassengerId"] for row in (*train, *test)] == [
            row["PassengerId"] for row in source
        ]
        assert 0 <= len(train) - int(0.8 * len(source)) < 4
        assert train[-1]["PassengerId"][:4] != test[0]["PassengerId"][:4]


def test_the_metric_is_scikit_learns_accuracy(tmp_path: Path) -> None:
    header = ["PassengerId", "Transported"]
    truth, given = np.random.default_rng(0).integers(2, size=(2, 50)).astype(bool)
    ids = [f"{number:04d}_01" for number in range(50)]
    write(tmp_path / "labels.csv", header, zip(ids, truth, strict=True))
    rows = list(zip(ids, given, strict=True))
    score = load_scorer("spaceship-titanic")
    in_order = write(tmp_path / "submission.csv", header, rows)
    assert score(in_order, tmp_path) == accuracy_score(truth, given)
    reversed_ = write(tmp_path / "submission.csv", header, reversed(rows))
    assert score(reversed_, tmp_path) == accuracy_score(truth, given), "matched by id"
    numbers = write(tmp_path / "submission.csv", header, [(name, int(b)) for name, b in rows])
    with pytest.raises(InvalidSubmission, match=r'"[01]"; give one of "False", "True"'):
        score(numbers, tmp_path)
