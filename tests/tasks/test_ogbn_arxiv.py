"""The task on the subjects of arXiv papers, on a small archive of the benchmark's layout."""

import gzip
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, read, write

PAPERS, LINKS = 1200, 6000


class TestOgbnArxiv(BundledTable):
    name = "ogbn-arxiv"
    target = "subject"
    public = ("citations.npy", "features.npy", "test.csv", "train.csv")

    def write_raw(self, raw: Path) -> None:
        """Papers of one subject cite each other; their texts tell it only dimly."""
        random = np.random.default_rng(0)
        subjects = random.integers(0, 8, PAPERS)
        years = random.integers(2013, 2021, PAPERS)
        centres = random.normal(size=(8, 128))
        features = 0.35 * centres[subjects] + random.normal(size=(PAPERS, 128))
        sources, targets = random.integers(0, PAPERS, size=(2, LINKS * 8))
        likely = np.where(subjects[sources] == subjects[targets], 0.8, 0.03)
        cited = (random.random(LINKS * 8) < likely) & (sources != targets)
        edges = np.unique(np.column_stack([sources, targets])[cited], axis=0)
        self.pack(raw, features, edges, subjects, years)

    def pack(
        self,
        raw: Path,
        features: NDArray[np.float64],
        edges: NDArray[np.int64],
        subjects: NDArray[np.int64],
        years: NDArray[np.int64],
    ) -> None:
        """Write the archive: compressed tables without headers, as the benchmark has them."""
        nodes = np.arange(PAPERS)
        tables: dict[str, NDArray[np.generic]] = {
            "raw/edge": edges,
            "raw/node-feat": features.round(6),
            "raw/node-label": subjects,
            "raw/node_year": years,
            "raw/num-edge-list": np.array([len(edges)]),
            "raw/num-node-list": np.array([PAPERS]),
            "split/time/train": nodes[years <= 2017],
            "split/time/valid": nodes[years == 2018],
            "split/time/test": nodes[years >= 2019],
        }
        with zipfile.ZipFile(raw / "arxiv.zip", "w") as archive:
            archive.writestr("arxiv/RELEASE_v1.txt", "")
            for name, table in tables.items():
                rows = np.atleast_2d(table.T).T.tolist()
                text = "".join(",".join(map(str, row)) + "\n" for row in rows)
                packed = gzip.compress(text.encode(), mtime=0)
                archive.writestr(f"arxiv/{name}.csv.gz", packed)

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        with zipfile.ZipFile(raw / "arxiv.zip") as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        asked = set(gzip.decompress(content["arxiv/split/time/test.csv.gz"]).split())
        labels = gzip.decompress(content["arxiv/raw/node-label.csv.gz"]).split()
        changed = [
            str(7 - int(label)) if str(node).encode() in asked else label.decode()
            for node, label in enumerate(labels)
        ]
        content["arxiv/raw/node-label.csv.gz"] = gzip.compress("\n".join(changed).encode())
        with zipfile.ZipFile(raw / "arxiv.zip", "w") as archive:
            for name, packed in content.items():
                archive.writestr(name, packed)

    def test_the_split_is_by_year(self, data: PreparedData) -> None:
        train, test = (read(data.public / f"{name}.csv") for name in ("train", "test"))
        assert max(int(row["year"]) for row in train) == 2018
        assert min(int(row["year"]) for row in test) == 2019

    def inputs(self, row: Mapping[str, str]) -> tuple[str, ...]:
        """A paper is told by its id alone: the years say nothing."""
        return (row["id"],)


def test_the_metric_is_scikit_learns_accuracy(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    truth, given = random.integers(0, 40, size=(2, 500))
    write(tmp_path / "labels.csv", ["id", "subject"], enumerate(truth))
    submission = write(tmp_path / "submission.csv", ["id", "subject"], enumerate(given))
    expected = accuracy_score(truth, given)
    assert load_scorer("ogbn-arxiv")(submission, tmp_path) == pytest.approx(expected)
