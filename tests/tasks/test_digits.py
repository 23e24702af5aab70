"""The task on handwritten digits."""

from pathlib import Path
from typing import Any

import pytest
import sklearn.datasets

from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, write


class TestDigits(BundledTable):
    name = "digits"
    target = "digit"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        source: Any = sklearn.datasets.load_digits()
        rows = self.asked_rows(data)
        asked = [tuple(f"{value:g}" for value in pixels) in rows for pixels in source.data]
        source.target[asked] = 9 - source.target[asked]
        patch.setattr(sklearn.datasets, "load_digits", lambda: source)


@pytest.mark.parametrize(("given", "accuracy"), [("3712", 1.0), ("3000", 0.25), ("0000", 0.0)])
def test_the_metric_is_the_fraction_that_is_right(
    tmp_path: Path, given: str, accuracy: float
) -> None:
    write(tmp_path / "labels.csv", ["id", "digit"], enumerate("3712"))
    submission = write(tmp_path / "submission.csv", ["id", "digit"], enumerate(given))
    assert load_scorer("digits")(submission, tmp_path) == accuracy
