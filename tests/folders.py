"""Task folders made by tests: tiny, complete, run in milliseconds, standard library only.

The task is to find a threshold: 100 rows have an ``x`` from 0 to 9, and the label is 1 from x = 4
on. The starter cuts at 1, which is right for 70 % of the rows; 2 is an improvement by 14 %, and
the solution cuts at 4.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_mlab.task import Task
from pytest_mlab.taskfile import load_task

TABLES: dict[str, Any] = {
    "format": "mlab/1",
    "title": "Find the threshold",
    "submission": {"file": "submission.csv", "max_mb": 1},
    "metric": {"name": "accuracy", "goal": "maximize", "bound": 1.0},
    "baseline": {"score": 0.7, "runs": 3},
    "limits": {"seconds": 60, "steps": 30, "scoring_seconds": 20},
}

INSTRUCTION = "Find the threshold above which the label of an x is 1; write submission.csv.\n"

STARTER = '''"""Tell the labels by a threshold."""

import csv

CUT = 1

with open("data/train.csv") as file:
    train = list(csv.DictReader(file))
with open("data/test.csv") as file:
    test = list(csv.DictReader(file))

right = sum((int(row["x"]) >= CUT) == (row["label"] == "1") for row in train)
print(f"validation accuracy: {right / len(train):.4f}")

with open("submission.csv", "w") as file:
    print("id,label", file=file)
    for row in test:
        print(row["id"], int(int(row["x"]) >= CUT), sep=",", file=file)
'''

SOLUTION = STARTER.replace("CUT = 1", "CUT = 4")

PREPARER = '''"""Prepare the data: 100 rows to learn from, 100 others to judge by."""


def build(raw, public, private):
    rows = [(number, number * 7 % 10) for number in range(100)]
    lines = [f"{name},{x},{int(x >= 4)}\\n" for name, x in rows]
    (public / "train.csv").write_text("id,x,label\\n" + "".join(lines))
    (public / "test.csv").write_text("id,x\\n" + "".join(f"{name},{x}\\n" for name, x in rows))
    labels = [f"{name},{int(x >= 4)}\\n" for name, x in rows]
    (private / "labels.csv").write_text("id,label\\n" + "".join(labels))
'''

SCORER = '''"""Score a submission: the fraction of rows whose label is right."""

from pytest_mlab.submission import read_answers, read_classes


def score(submission, private):
    answers = read_answers(private / "labels.csv", "label")
    labels = read_classes(submission, "label", answers.keys(), ["0", "1"])
    return sum(a == b for a, b in zip(labels, answers.values())) / len(answers)
'''

FILES: dict[str, str | None] = {
    "instruction.md": INSTRUCTION,
    "prepare.py": PREPARER,
    "score.py": SCORER,
    "workspace/train.py": STARTER,
    "solution/train.py": SOLUTION,
}


def make_task(
    parent: Path,
    name: str = "threshold",
    *,
    files: Mapping[str, str | None] | None = None,
    **tables: Any,
) -> Path:
    """Write a valid task folder, but for what is asked for otherwise, and give its path.

    ``tables`` change ``task.toml``: a key's value replaces ours, tables are merged key by key, and
    None takes a key out. ``files`` change the other files by their names in the same way; a
    ``task.toml`` among them is written as it is.
    """
    folder = parent / name
    contents = {**FILES, "task.toml": write_toml(_merge(TABLES, tables)), **(files or {})}
    for file, content in contents.items():
        if content is not None:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    return folder


def load(parent: Path, name: str = "threshold", **changes: Any) -> Task:
    """Make a task folder as `make_task` does, and load it."""
    return load_task(make_task(parent, name, **changes))


def write_toml(tables: Mapping[str, Any]) -> str:
    """Give the TOML of plain values and of one level of tables."""
    plain = [_line(key, value) for key, value in tables.items() if not isinstance(value, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            plain += ["", f"[{name}]", *(_line(key, value) for key, value in table.items())]
    return "\n".join(plain) + "\n"


def _line(key: str, value: Any) -> str:
    # JSON's strings, numbers, booleans and lists are TOML's too, but for these names.
    return f"{key} = {json.dumps(value).replace('NaN', 'nan').replace('Infinity', 'inf')}"


def _merge(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(tables)
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            before = merged.get(key, {})
            merged[key] = _merge(before if isinstance(before, dict) else {}, value)
        else:
            merged[key] = value
    return merged
