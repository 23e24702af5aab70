"""Prepare the data: the molecules of ogbg-molhiv, with the benchmark's split by scaffold."""

import csv
import gzip
import hashlib
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_mlab.download import fetch

URL = "http://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download/hiv.zip"


def download(raw: Path) -> None:
    """Fetch the archive of the Open Graph Benchmark, 3 MB."""
    fetch(URL, raw / "hiv.zip")


def build(raw: Path, public: Path, private: Path) -> None:
    """Write the graphs, train.csv and test.csv for the agent, labels.csv for the scorer."""
    import numpy as np

    with zipfile.ZipFile(raw / "hiv.zip") as archive:
        atoms, bonds, kinds, labels, atom_counts, bond_counts = (
            read(archive, f"raw/{name}")
            for name in (
                *("node-feat", "edge", "edge-feat", "graph-label"),
                *("num-node-list", "num-edge-list"),
            )
        )
        asked = {int(molecule) for molecule in read(archive, "split/scaffold/test")[:, 0]}
        with archive.open("hiv/mapping/mol.csv.gz") as packed, gzip.open(packed, "rt") as file:
            smiles = [row["smiles"] for row in csv.DictReader(file)]
    # Numbered anew by a hash, the training set first: a molecule's place says nothing about it.
    order = sorted(
        range(len(smiles)),
        key=lambda molecule: (molecule in asked, hashlib.sha256(str(molecule).encode()).digest()),
    )
    save_parts(public / "atoms.npy", atoms, atom_counts[:, 0], order)
    save_parts(public / "bonds.npy", np.hstack([bonds, kinds]), bond_counts[:, 0], order)
    rows = [
        (number, smiles[m], int(atom_counts[m, 0]), int(bond_counts[m, 0]), int(labels[m, 0]))
        for number, m in enumerate(order, start=1)
    ]
    columns = ["id", "smiles", "atoms", "bonds"]
    write(public / "train.csv", [*columns, "active"], rows[: -len(asked)])
    write(public / "test.csv", columns, (row[:-1] for row in rows[-len(asked) :]))
    write(
        private / "labels.csv", ["id", "active"], ((row[0], row[-1]) for row in rows[-len(asked) :])
    )


def save_parts(file: Path, table: Any, counts: Any, order: Sequence[int]) -> None:
    """Save the molecules' rows of a table, one molecule's after the other's in the new order."""
    import numpy as np

    ends = np.cumsum(counts)
    parts = [table[ends[molecule] - counts[molecule] : ends[molecule]] for molecule in order]
    np.save(file, np.concatenate(parts).astype(np.int16))


def read(archive: zipfile.ZipFile, name: str) -> Any:
    """Read one of the archive's compressed tables of whole numbers, which have no header."""
    import numpy as np
    import pandas as pd

    with archive.open(f"hiv/{name}.csv.gz") as packed, gzip.open(packed) as file:
        return pd.read_csv(file, header=None).to_numpy(np.int64)


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
