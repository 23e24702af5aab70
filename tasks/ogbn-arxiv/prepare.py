"""Prepare the data: the citation graph ogbn-arxiv, split by the years of its papers."""

import csv
import gzip
import hashlib
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_mlab.download import fetch

URL = "http://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"


def download(raw: Path) -> None:
    """Fetch the archive of the Open Graph Benchmark, 81 MB."""
    fetch(URL, raw / "arxiv.zip")


def build(raw: Path, public: Path, private: Path) -> None:
    """Write the graph, train.csv and test.csv for the agent, labels.csv for the scorer."""
    import numpy as np

    with zipfile.ZipFile(raw / "arxiv.zip") as archive:
        features = read(archive, "raw/node-feat", np.float32)
        citations = read(archive, "raw/edge", np.int64)
        subjects = read(archive, "raw/node-label", np.int64)[:, 0]
        years = read(archive, "raw/node_year", np.int64)[:, 0]
        asked = {int(node) for node in read(archive, "split/time/test", np.int64)[:, 0]}
    # Numbered anew by a hash, the training set first: a paper's place says nothing about it.
    order = sorted(
        range(len(features)),
        key=lambda node: (node in asked, hashlib.sha256(str(node).encode()).digest()),
    )
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    links = place[citations]
    np.save(public / "features.npy", features[order])
    np.save(public / "citations.npy", links[np.lexsort((links[:, 1], links[:, 0]))])
    rows = [(number, years[node], subjects[node]) for number, node in enumerate(order)]
    train, test = rows[: -len(asked)], rows[-len(asked) :]
    write(public / "train.csv", ["id", "year", "subject"], train)
    write(public / "test.csv", ["id", "year"], (row[:-1] for row in test))
    write(private / "labels.csv", ["id", "subject"], ((row[0], row[-1]) for row in test))


def read(archive: zipfile.ZipFile, name: str, dtype: Any) -> Any:
    """Read one of the archive's compressed tables, which have no header."""
    import numpy as np
    import pandas as pd

    with archive.open(f"arxiv/{name}.csv.gz") as packed, gzip.open(packed) as file:
        return np.ascontiguousarray(pd.read_csv(file, header=None).to_numpy(dtype))


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
