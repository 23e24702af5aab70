"""Hidden answers in another order: what a scorer that measures them must not reward.

A file of answers has one row for each input. In a CSV file, the first column holds the ids, in a
JSONL file the key "id"; ids stay where they are and all else changes places. A NumPy array is
permuted along its first axis.
"""

import csv
import json
import random
from pathlib import Path

ANSWERS = "labels.csv"
"""The file in the private data that holds the answers, where the task does not say."""

FORMATS = (".csv", ".jsonl", ".npy")


def permute_answers(file: Path, seed: int) -> None:
    """Rewrite a file of answers, its rows in an order that is drawn from the seed."""
    chance = random.Random(seed)
    match file.suffix:
        case ".csv":
            _permute_table(file, chance)
        case ".jsonl":
            _permute_records(file, chance)
        case _:
            _permute_array(file, chance)


def _permute_table(file: Path, chance: random.Random) -> None:
    with file.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    answers = [row[1:] for row in rows]
    chance.shuffle(answers)
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows([row[0], *answer] for row, answer in zip(rows, answers, strict=True))


def _permute_records(file: Path, chance: random.Random) -> None:
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    answers = records.copy()
    chance.shuffle(answers)
    pairs = zip(records, answers, strict=True)
    lines = (json.dumps({**answer, "id": record["id"]}) + "\n" for record, answer in pairs)
    file.write_text("".join(lines), encoding="utf-8")


def _permute_array(file: Path, chance: random.Random) -> None:
    import numpy as np

    answers = np.load(file)
    order = list(range(len(answers)))
    chance.shuffle(order)
    np.save(file, answers[order])
