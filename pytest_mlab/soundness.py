"""What must hold of a task, whichever format it was read from.

A task that is wrong is refused when it is loaded, not when an agent has been paid to try it.
"""

import math
import os
import re
from pathlib import PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement

from pytest_mlab.conventions import THRESHOLD
from pytest_mlab.exceptions import TaskError
from pytest_mlab.permutation import FORMATS
from pytest_mlab.statistics import student_t_tail
from pytest_mlab.tables import Table
from pytest_mlab.task import Metric, Task

LUCK = 0.01
"""How often a do-nothing agent may succeed by the noise of the starter's score alone."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MARKERS = frozenset(
    {"filterwarnings", "mlab_task", "parametrize", "skip", "skipif", "timeout", "usefixtures"}
    | {"xdist_group", "xfail"}
)
"""Markers that do something to a test; as a tag, "skip" would take trials out of the count."""


def check_task(task: Task, top: Table) -> None:
    """Raise a `TaskError` about what cannot be right in a task; ``top`` is where it was stated."""
    if not _NAME.fullmatch(task.name):
        raise TaskError(
            f"{task.folder}: a task folder's name is made of letters, digits, '.', '_' and '-', "
            "because it is part of test ids; rename the folder"
        )
    for tag in task.tags:
        if not _TAG.fullmatch(tag):
            raise top.error("tags", f'has "{tag}"; a tag becomes a marker: letters, digits, _, -')
        if tag in _MARKERS:
            raise top.error("tags", f'has "{tag}", a marker with a meaning of its own; rename it')
    _check_files(task, top)
    _check_figures(task, top)


def _check_files(task: Task, top: Table) -> None:
    for path, purpose in (
        (task.workspace, "copied afresh for every trial; holds the starter code"),
        (task.scorer, "defines score(submission: Path, private: Path) -> float"),
    ):
        if not path.exists():
            raise TaskError(f"{path}: is missing; it is what is {purpose}")
    if _leaves(task.starter) or not (task.workspace / task.starter).is_file():
        raise top.error("starter", f'names "{task.starter}", which is not in {task.workspace}')
    if not task.starter.endswith(".py"):
        raise top.error("starter", f'is "{task.starter}"; name a Python script (.py)')
    if task.solution is not None and not task.solution.is_dir():
        raise TaskError(f"{task.solution}: is not a folder; put the files of the solution into one")
    _check_submission(task, top)
    _check_answers(task, top)
    _check_packages(task, top)


def _check_answers(task: Task, top: Table) -> None:
    answers = task.data.answers
    if answers is not None and (_leaves(answers) or not answers.endswith(FORMATS)):
        raise top.error(
            "[data] answers",
            f'is "{answers}"; name a file within the private data, one of {", ".join(FORMATS)}',
        )


def _check_submission(task: Task, top: Table) -> None:
    if _leaves(task.submission.file):
        raise top.error(
            "[submission] file",
            f'is "{task.submission.file}"; name a file within the workspace',
        )
    stale = task.workspace / task.submission.file
    if task.submission.in_place and not stale.is_file():
        raise top.error("[submission] in_place", f"is true, but there is no {stale} to edit")
    if not task.submission.in_place and os.path.lexists(stale):
        raise TaskError(
            f"{stale}: is left over from a run, and would be every agent's submission; delete it "
            "or, where agents are to edit it, say [submission] in_place = true"
        )


def _check_packages(task: Task, top: Table) -> None:
    for name in task.data.conceal:
        if not name or ".." in PurePosixPath(name).parts or "\0" in name:
            raise top.error(
                "[data] conceal",
                f'has "{name}"; give a path within the installed packages, or an absolute one',
            )
    image = task.resources.image
    if image is not None and (not image or image.startswith("-")):
        raise top.error("[resources] image", f'is "{image}"; name an image as the engine does')
    for key, requirements in (
        ("[resources] requires", task.resources.requires),
        ("[data] packages", task.data.packages),
    ):
        for text in requirements:
            try:
                Requirement(text)
            except InvalidRequirement:
                raise top.error(
                    key, f'has "{text}"; name packages as pip does, such as "pandas>=2"'
                ) from None


def _leaves(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name


def _check_figures(task: Task, top: Table) -> None:
    positive = {
        "[submission] max_mb": task.submission.max_mb,
        "[baseline] runs": task.baseline.runs,
        "[limits] seconds": task.limits.seconds,
        "[limits] steps": task.limits.steps,
        "[limits] scoring_seconds": task.limits.scoring_seconds,
        "[limits] preparing_seconds": task.limits.preparing_seconds,
        "[limits] expected_seconds": task.limits.expected_seconds,
        "[resources] memory_gb": task.resources.memory_gb,
        "[resources] workspace_gb": task.resources.workspace_gb,
        "[resources] workspace_files": task.resources.workspace_files,
    }
    for key, value in positive.items():
        if value is not None and value <= 0:
            raise top.error(key, f"is {value}; give a number above 0")
    for key, value in {
        "[baseline] std": task.baseline.std,
        "[resources] gpus": task.resources.gpus,
        "[resources] cpus": task.resources.cpus,
    }.items():
        if value < 0:
            raise top.error(key, f"is {value}; give 0 or more")
    _check_baseline(task, top)


def _check_baseline(task: Task, top: Table) -> None:
    baseline, metric = task.baseline, task.metric
    if not baseline.stated:
        return
    if baseline.score == 0:
        raise top.error(
            "[baseline] score",
            "is 0, of which no fraction can be taken; choose a metric or a starter "
            "whose score is not 0",
        )
    if metric.bound is not None:
        target = metric.target(baseline.score, THRESHOLD)
        short = target - metric.bound if metric.goal == "maximize" else metric.bound - target
        if short >= 0:
            raise top.error(
                "[baseline] score",
                f"is {baseline.score:g}: an improvement of more than {THRESHOLD:.0%} would lie "
                f"beyond the metric's bound of {metric.bound:g}; ship a weaker starter",
            )
    if metric.best_known is not None:
        _check_best_known(metric, baseline.score, metric.best_known, top)
    chance = chance_of_luck(task, THRESHOLD)
    if chance > LUCK:
        raise top.error(
            "[baseline] std",
            f"is {baseline.std:g} over {baseline.runs} runs: a do-nothing agent would succeed with "
            f"a probability of {chance:.1%}; make the starter's score steadier (a fixed seed, "
            f"a larger test set) or state more runs, until it is at most {LUCK:.0%}",
        )


def _check_best_known(metric: Metric, baseline: float, best: float, top: Table) -> None:
    if metric.improvement(best, baseline) <= 0:
        raise top.error(
            "[metric] best_known", f"is {best:g}, no better than the baseline of {baseline:g}"
        )
    if metric.exceeds_bound(best):
        raise top.error(
            "[metric] best_known", f"is {best:g}, better than the bound of {metric.bound:g}"
        )


def chance_of_luck(task: Task, threshold: float) -> float:
    """Give the probability that another run of the starter alone beats the stated baseline.

    The next run of a normal quantity of which ``runs`` are known, with mean m and deviation s,
    follows m + s * sqrt(1 + 1/runs) * Student's t with runs - 1 degrees of freedom.
    """
    baseline = task.baseline
    if baseline.std == 0:
        return 0.0
    gap = threshold if baseline.measured else abs(baseline.score) * threshold
    spread = baseline.std * math.sqrt(1 + 1 / baseline.runs)
    return student_t_tail(gap / spread, baseline.runs - 1)
