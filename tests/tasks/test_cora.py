"""The task on the subjects of papers in a citation graph."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, read, write


class TestCora(BundledTable):
    name = "cora"
    target = "subject"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        pandas: Any = pytest.importorskip("pandas")
        read_parquet = pandas.read_parquet
        asked = {words for _, words in self.asked_rows(data)}

        def read_changed(file: Path) -> Any:
            table = read_parquet(file)
            if "subject" in table:
                words = (" ".join(map(str, row.nonzero()[0])) for row in table["features"])
                table.loc[[text in asked for text in words], "subject"] += 1
            return table

        patch.setattr(pandas, "read_parquet", read_changed)

    def test_the_graph_is_whole(self, data: PreparedData) -> None:
        papers = read(data.public / "train.csv") + read(data.public / "test.csv")
        cited = [other for paper in papers for other in paper["cites"].split()]
        assert len(cited) == 5429
        assert set(cited) <= {paper["id"] for paper in papers}


def test_the_metric_is_scikit_learns_accuracy(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth, given = random.integers(0, 7, size=(2, 200))
    write(tmp_path / "labels.csv", ["id", "subject"], enumerate(truth))
    submission = write(tmp_path / "submission.csv", ["id", "subject"], enumerate(given))
    assert load_scorer("cora")(submission, tmp_path) == pytest.approx(accuracy_score(truth, given))
