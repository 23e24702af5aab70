"""Hidden answers change places: each is there as often as before, and ids stay where they are."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from pytest_mlab.permutation import permute_answers

IDS = [str(number) for number in range(50)]


def test_rows_of_a_table_change_places_whole_but_for_their_ids(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    rows = [[name, f"{name}, once", f"{name}\ntwice"] for name in IDS]
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["id", "first", "second"], *rows])
    permute_answers(file, seed=0)
    with file.open(newline="", encoding="utf-8") as stream:
        header, *permuted = csv.reader(stream)
    assert header == ["id", "first", "second"]
    assert [row[0] for row in permuted] == IDS
    assert permuted != rows
    assert sorted(row[1:] for row in permuted) == sorted(row[1:] for row in rows)


def test_records_change_places_whole_but_for_their_ids(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    records = [{"id": name, "papers": [name, "Müller"]} for name in IDS]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    permute_answers(file, seed=0)
    permuted = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [record["id"] for record in permuted] == IDS
    assert permuted != records
    assert sorted(record["papers"][0] for record in permuted) == sorted(IDS)
    assert all(record["papers"][1] == "Müller" for record in permuted)


@pytest.mark.parametrize("shape", [(50,), (50, 3, 3)])
def test_an_array_is_permuted_along_its_first_axis(tmp_path: Path, shape: tuple[int, ...]) -> None:
    file = tmp_path / "answers.npy"
    array = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    np.save(file, array)
    permute_answers(file, seed=0)
    permuted = np.load(file)
    assert permuted.dtype == array.dtype
    assert (permuted != array).any()
    order = np.argsort(permuted.reshape(50, -1)[:, 0])
    assert (permuted[order] == array).all()


def test_a_seed_always_gives_the_same_order_and_others_give_others(tmp_path: Path) -> None:
    found = []
    for seed in (1, 1, 2):
        np.save(tmp_path / "answers.npy", np.arange(50))
        permute_answers(tmp_path / "answers.npy", seed)
        found.append(np.load(tmp_path / "answers.npy").tolist())
    assert found[0] == found[1] != found[2]
