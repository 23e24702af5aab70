"""Prepare the data: the citation graph Cora, its papers split into a training and a test set."""

import csv
import hashlib
import importlib.util
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

TEST_PAPERS = 1000


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer."""
    words, subjects, citations = read_source()
    # The source numbers papers by where they were found. Ordered and named by a hash of that
    # number, neither a paper's place nor its id has anything to do with its subject.
    ordered = sorted(words, key=lambda node: hashlib.sha256(str(node).encode()).digest())
    # Papers with the very same words are all in the training set.
    twins = Counter(map(join, words.values()))
    ordered.sort(key=lambda node: twins[join(words[node])] == 1)
    names = {node: number for number, node in enumerate(ordered, start=1)}
    cited: dict[int, list[int]] = defaultdict(list)
    for source, target in citations:
        cited[source].append(names[target])
    rows = [
        (names[node], join(sorted(cited[node])), join(words[node]), subjects[node])
        for node in ordered
    ]
    train, test = rows[:-TEST_PAPERS], rows[-TEST_PAPERS:]
    columns = ["id", "cites", "words"]
    write(public / "train.csv", [*columns, "subject"], train)
    write(public / "test.csv", columns, (row[:-1] for row in test))
    write(private / "labels.csv", ["id", "subject"], ((row[0], row[-1]) for row in test))


def read_source() -> tuple[dict[int, list[int]], dict[int, int], list[tuple[int, int]]]:
    """Give each paper's words and subject by its number in the source, and who cites whom."""
    import pandas as pd

    package = importlib.util.find_spec("graphdatascience")
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "resources" / "cora"
    nodes = pd.read_parquet(folder / "cora_nodes.parquet.gzip")
    edges = pd.read_parquet(folder / "cora_rels.parquet.gzip")
    words = {
        int(node): [int(place) for place in features.nonzero()[0]]
        for node, features in zip(nodes["nodeId"], nodes["features"], strict=True)
    }
    subjects = {int(n): int(s) for n, s in zip(nodes["nodeId"], nodes["subject"], strict=True)}
    pairs = zip(edges["sourceNodeId"], edges["targetNodeId"], strict=True)
    return words, subjects, [(int(source), int(target)) for source, target in pairs]


def join(numbers: Iterable[int]) -> str:
    """Write numbers with blanks between them."""
    return " ".join(map(str, numbers))


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
