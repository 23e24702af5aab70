"""Collecting 1,000 tasks of 8 trials beside 1,000 modules of 8 tests.

``python -m tests.benchmarks.bench_collection``
"""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import compare, report

TASKS = 1000
PYTEST = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]

TASK = """\
format = "mlab/1"
title = "Task {number}"
tags = ["tabular"]

[submission]
file = "submission.csv"

[metric]
name = "MAE"
goal = "minimize"
bound = 0.0

[baseline]
score = 10.0
std = 0.1
runs = 5

[limits]
seconds = 600
steps = 50
"""
MODULE = """\
import pytest


@pytest.mark.parametrize("trial", range(8))
def test_trial(trial):
    assert trial >= 0
"""


def make_tasks(root: Path) -> None:
    """Make task folders, each of them valid."""
    for number in range(TASKS):
        folder = root / f"task{number:04}"
        (folder / "workspace").mkdir(parents=True)
        (folder / "task.toml").write_text(TASK.format(number=number))
        (folder / "instruction.md").write_text("Do better.\n")
        (folder / "score.py").write_text("def score(submission, private):\n    return 1.0\n")
        (folder / "workspace" / "train.py").write_text("print('validation MAE: 10')\n")


def make_modules(root: Path) -> None:
    """Make folders with a plain test module each."""
    for number in range(TASKS):
        folder = root / f"task{number:04}"
        folder.mkdir(parents=True)
        (folder / f"test_task{number:04}.py").write_text(MODULE)


def main() -> None:
    """Collect both and compare time and memory."""
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = Path(name, "ours"), Path(name, "theirs")
        make_tasks(ours / "tasks")
        make_modules(theirs / "tasks")
        tasks = [*PYTEST, "tasks", "--mlab-trials=8"]
        plain = [*PYTEST, "tasks", "-p", "no:pytest_mlab.plugin"]
        with_tasks, with_modules = compare(tasks, plain, ours, theirs, runs=5)
    print(f"tasks {with_tasks.seconds:.2f} s, modules {with_modules.seconds:.2f} s")
    report("time", with_tasks.seconds / with_modules.seconds, "times", 1.0)
    report("memory", with_tasks.memory / with_modules.memory, "times", 1.0)


if __name__ == "__main__":
    main()
