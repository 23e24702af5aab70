"""The task on how strongly molecules bind."""

import importlib.util
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error

from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, read, write

TABLE = Path("Data", "benchmark_data", "CHEMBL234_Ki.csv")


class TestMoleculeACE(BundledTable):
    name = "moleculeace"
    target = "affinity"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        package = importlib.util.find_spec("MoleculeACE")
        assert package is not None
        assert package.origin is not None
        rows = read(Path(package.origin).parent / TABLE)
        for row in rows:
            if row["split"] == "test":
                row["y"] = str(float(row["y"]) + 1)
        write(raw / TABLE, list(rows[0]), [list(row.values()) for row in rows])
        changed = SimpleNamespace(origin=str(raw / "__init__.py"))
        patch.setattr(importlib.util, "find_spec", lambda name: changed)


def measure(folder: Path, truth: list[float], given: list[float]) -> float:
    write(folder / "labels.csv", ["id", "affinity"], enumerate(truth))
    submission = write(folder / "submission.csv", ["id", "affinity"], enumerate(given))
    return load_scorer("moleculeace")(submission, folder)


def test_the_metric_is_scikit_learns_rmse(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth, given = random.normal(size=(2, 100)).tolist()
    expected = root_mean_squared_error(truth, given)
    assert measure(tmp_path, truth, given) == pytest.approx(expected)


@pytest.mark.parametrize(("given", "rmse"), [([1.0, 2.0], 0.0), ([2.0, 2.0], math.sqrt(0.5))])
def test_the_metric_of_cases_done_by_hand(tmp_path: Path, given: list[float], rmse: float) -> None:
    assert measure(tmp_path, [1.0, 2.0], given) == pytest.approx(rmse)


def test_a_huge_error_is_a_number(tmp_path: Path) -> None:
    assert measure(tmp_path, [1.0, -1.0], [1.7e308, -1.7e308]) == pytest.approx(1.7e308)
