"""The task on molecules that inhibit HIV, on a small archive of the benchmark's layout."""

import csv
import gzip
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, read, write

MOLECULES = 1500
ATOMS = {"C": 5, "N": 6, "O": 7, "F": 8}


class TestOgbgMolhiv(BundledTable):
    name = "ogbg-molhiv"
    target = "active"
    public = ("atoms.npy", "bonds.npy", "test.csv", "train.csv")

    def write_raw(self, raw: Path) -> None:
        """Chains of atoms; the long ones and those with "NOF" in them are active more often."""
        random = np.random.default_rng(0)
        smiles = [
            "".join(random.choice(list(ATOMS), random.integers(8, 20))) for _ in range(MOLECULES)
        ]
        active = [
            int(random.random() < 0.02 * (len(text) - 8) + (0.8 if "NOF" in text else 0))
            for text in smiles
        ]
        nodes: list[tuple[int, ...]] = [
            (ATOMS[letter], 0, 2, 5, 0, 0, 2, 0, 0) for text in smiles for letter in text
        ]
        edges: list[tuple[int, ...]] = [
            (at, at + 1) for text in smiles for at in range(len(text) - 1)
        ]
        tables: dict[str, list[tuple[int, ...]]] = {
            "raw/node-feat": nodes,
            "raw/edge": edges,
            "raw/edge-feat": [(0, 0, 0)] * len(edges),
            "raw/graph-label": [(label,) for label in active],
            "raw/num-node-list": [(len(text),) for text in smiles],
            "raw/num-edge-list": [(len(text) - 1,) for text in smiles],
            "split/scaffold/train": [(number,) for number in range(700)],
            "split/scaffold/valid": [(number,) for number in range(700, 900)],
            "split/scaffold/test": [(number,) for number in range(900, MOLECULES)],
        }
        mapping = [("HIV_active", "smiles", "mol_id"), *zip(active, smiles, smiles, strict=True)]
        with zipfile.ZipFile(raw / "hiv.zip", "w") as archive:
            for name, rows in tables.items():
                archive.writestr(f"hiv/{name}.csv.gz", pack(rows))
            archive.writestr("hiv/mapping/mol.csv.gz", pack(mapping))

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        with zipfile.ZipFile(raw / "hiv.zip") as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        labels = gzip.decompress(content["hiv/raw/graph-label.csv.gz"]).decode().split()
        changed = [(label,) if n < 900 else (1 - int(label),) for n, label in enumerate(labels)]
        content["hiv/raw/graph-label.csv.gz"] = pack(changed)
        with zipfile.ZipFile(raw / "hiv.zip", "w") as archive:
            for name, packed in content.items():
                archive.writestr(name, packed)

    def inputs(self, row: Mapping[str, str]) -> tuple[str, ...]:
        """Short chains may be the same; a molecule is told by its id."""
        return (row["id"],)

    def test_the_graphs_are_in_the_order_of_ids(self, data: PreparedData) -> None:
        rows = read(data.public / "train.csv") + read(data.public / "test.csv")
        atoms, bonds = (np.load(data.public / f"{name}.npy") for name in ("atoms", "bonds"))
        spelled = "".join(row["smiles"] for row in rows)
        assert atoms[:, 0].tolist() == [ATOMS[letter] for letter in spelled]
        assert len(bonds) == sum(int(row["bonds"]) for row in rows)
        assert [int(row["atoms"]) for row in rows] == [len(row["smiles"]) for row in rows]


def pack(rows: Iterable[Iterable[object]]) -> bytes:
    """Give a compressed table."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return gzip.compress(text.getvalue().encode(), mtime=0)


def measure(folder: Path, active: list[int], given: list[float]) -> float:
    write(folder / "labels.csv", ["id", "active"], enumerate(active))
    submission = write(folder / "submission.csv", ["id", "active"], enumerate(given))
    return load_scorer("ogbg-molhiv")(submission, folder)


class TestMetric:
    """The benchmark's evaluator calls scikit-learn's roc_auc_score."""

    @pytest.mark.parametrize("decimals", [6, 1, 0], ids=["no ties", "ties", "mostly ties"])
    def test_it_is_scikit_learns_roc_auc(self, tmp_path: Path, decimals: int) -> None:
        random = np.random.default_rng(decimals)
        active = random.integers(0, 2, 300)
        given = (0.3 * active + random.random(300)).round(decimals)
        expected = roc_auc_score(active, given)
        assert measure(tmp_path, active.tolist(), given.tolist()) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("given", "area"), [([0.1, 0.9], 1.0), ([0.9, 0.1], 0.0), ([0.5, 0.5], 0.5)]
    )
    def test_direction_and_ties(self, tmp_path: Path, given: list[float], area: float) -> None:
        assert measure(tmp_path, [0, 1], given) == area
