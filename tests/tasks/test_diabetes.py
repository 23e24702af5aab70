"""The task on the progression of diabetes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.datasets
from sklearn.metrics import mean_absolute_error

from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, write


class TestDiabetes(BundledTable):
    name = "diabetes"
    target = "progression"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        source: Any = sklearn.datasets.load_diabetes(scaled=False)
        rows = self.asked_rows(data)
        asked = [tuple(f"{value:.6g}" for value in patient) in rows for patient in source.data]
        source.target[asked] = 400 - source.target[asked]
        patch.setattr(sklearn.datasets, "load_diabetes", lambda scaled: source)


def test_the_metric_is_scikit_learns_mean_absolute_error(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth, given = random.uniform(25, 346, size=(2, 50))
    write(tmp_path / "labels.csv", ["id", "progression"], enumerate(truth))
    submission = write(tmp_path / "submission.csv", ["id", "progression"], enumerate(given))
    expected = mean_absolute_error(truth, given)
    assert load_scorer("diabetes")(submission, tmp_path) == pytest.approx(expected)
