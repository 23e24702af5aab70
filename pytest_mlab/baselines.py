"""The baseline of a task that states none: its starter's scores, measured on this machine.

A task whose data its author did not have cannot say what its starter scores on them, and a figure
published for another split is none. The unmodified starter is then run as an agent's trial is, once
for all trials, and the scores are kept beside the prepared data.
"""

import dataclasses
import json
import statistics
from collections.abc import Callable
from pathlib import Path

from pytest_mlab.conventions import FILE
from pytest_mlab.data import PreparedData, lock_task
from pytest_mlab.exceptions import TaskError
from pytest_mlab.results import Result
from pytest_mlab.soundness import check_task
from pytest_mlab.tables import Table
from pytest_mlab.task import Baseline, Task

ANY = Baseline(score=1.0)
"""What a run is held against that is to give the baseline."""

RunStarter = Callable[[Task], Result]
"""Runs the unmodified starter of a task and scores it."""


def find_baseline(
    task: Task,
    data: PreparedData,
    run_starter: RunStarter,
    announce: Callable[[], None] = lambda: None,
) -> Baseline:
    """Give the stated baseline, else the one that was measured here, else measure it now.

    ``announce`` is called before the starter is run, which may take long. What the scorer measures
    anew each time is left to it.

    Raises `TaskError` where the starter gives no score, or where its scores are such that no
    success could be told from luck.
    """
    if task.baseline.stated or task.baseline.measured:
        return task.baseline
    file = data.public.parent / f"baseline-{task.digest[:16]}.json"
    with lock_task(task):
        if not file.exists():
            announce()
            _write(file, _measure(task, run_starter))
    return _summarise(json.loads(file.read_text(encoding="utf-8")))


def _measure(task: Task, run_starter: RunStarter) -> list[float]:
    scores = []
    for _ in range(task.baseline.runs):
        result = run_starter(dataclasses.replace(task, baseline=ANY))
        if result.score is None:
            raise TaskError(
                f"{task.workspace / task.starter}: the starter, unmodified, gives no baseline: "
                f"{result.summary()}"
            )
        scores.append(result.score)
    check_scores(task, scores, task.folder / FILE)
    return scores


def check_scores(task: Task, scores: list[float], file: Path) -> None:
    """Raise `TaskError`, which speaks of ``file``, unless the scores can be a task's baseline."""
    check_task(dataclasses.replace(task, baseline=_summarise(scores)), Table({}, file))


def _summarise(scores: list[float]) -> Baseline:
    return Baseline(statistics.fmean(scores), statistics.stdev(scores), len(scores))


def _write(file: Path, scores: list[float]) -> None:
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(scores), encoding="utf-8")
    unfinished.rename(file)
