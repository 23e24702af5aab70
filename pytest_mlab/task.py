"""A task: what is asked of the agent, how it is measured, and what it may use.

A task is a folder with a ``task.toml`` that says ``format = "mlab/1"``; `load_task` reads and
checks it.
"""

import functools
import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement

from pytest_mlab.conventions import FILE, FORMAT, THRESHOLD
from pytest_mlab.exceptions import TaskError
from pytest_mlab.statistics import student_t_tail
from pytest_mlab.tables import Table, read_table

LUCK = 0.01
"""How often a do-nothing agent may succeed by the noise of the starter's score alone."""

MOST = 1e9
"""The largest improvement there is."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MARKERS = frozenset(
    {"filterwarnings", "mlab_task", "parametrize", "skip", "skipif", "timeout", "usefixtures"}
    | {"xdist_group", "xfail"}
)
"""Markers that do something to a test; as a tag, "skip" would take trials out of the count."""


@dataclass(frozen=True)
class Submission:
    """What the agent hands in: a file of the workspace, at most ``max_mb`` megabytes."""

    file: str = "submission.csv"
    max_mb: float = 64.0


@dataclass(frozen=True)
class Metric:
    """What the scorer measures; ``bound`` is the best value there can be, if there is one."""

    name: str
    goal: Literal["minimize", "maximize"]
    bound: float | None = None

    def improvement(self, score: float, baseline: float) -> float:
        """Give the fraction by which a score is better than the baseline (negative: worse).

        It ends at plus and minus a billion: numbers near the end of what a float can be are no
        reason for a result without one.
        """
        gain = max(-MOST, min(MOST, (score - baseline) / abs(baseline)))
        return gain if self.goal == "maximize" else -gain

    def target(self, baseline: float, threshold: float) -> float:
        """Give the score that has to be beaten."""
        gain = abs(baseline) * threshold
        return baseline + gain if self.goal == "maximize" else baseline - gain


@dataclass(frozen=True)
class Baseline:
    """The unmodified starter's score: mean and standard deviation over ``runs`` runs.

    With ``measured``, the scorer runs starter and submission side by side and reports both, as
    run times must be; ``score`` is then what the author saw, and ``std`` the spread of the
    submission's score *relative to the starter's* when both are the starter.
    """

    score: float
    std: float = 0.0
    runs: int = 1
    measured: bool = False


@dataclass(frozen=True)
class Limits:
    """What a trial may use; the paper's defaults are 5 hours and 50 steps (section 4)."""

    seconds: float = 5 * 3600.0
    steps: int = 50
    scoring_seconds: float = 60.0
    preparing_seconds: float = 3600.0
    expected_seconds: float | None = None


@dataclass(frozen=True)
class Resources:
    """What the machine must have: devices, memory, packages (by the name pip installs)."""

    gpus: int = 0
    memory_gb: float = 2.0
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Data:
    """What preparing must give: the sha256 of the prepared files, where the author pins it."""

    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task, checked; every path is absolute. ``scorer`` and ``solution`` stay hidden.

    The prepared public data are seen as the workspace's folder ``data``, or, with ``data_at`` ".",
    among its other files.
    """

    name: str
    folder: Path
    title: str
    instruction: str
    workspace: Path
    data_at: Literal["data", "."] = "data"
    starter: str = "train.py"
    scorer: Path
    preparer: Path | None = None
    solution: Path | None = None
    tags: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    submission: Submission = field(default_factory=Submission)
    metric: Metric
    baseline: Baseline
    limits: Limits = field(default_factory=Limits)
    resources: Resources = field(default_factory=Resources)
    data: Data = field(default_factory=Data)

    @functools.cached_property
    def digest(self) -> str:
        """The sha256 of everything in the folder: a result of another digest is of another task."""
        return digest_files(self.folder, task_files(self.folder))

    @functools.cached_property
    def data_digest(self) -> str:
        """The sha256 of what preparing may read; editing a solution does not prepare data anew."""
        apart = {FILE, "instruction.md", "score.py", "conftest.py", "README.md"}
        folders = {"solution"}
        files = [
            path
            for path in task_files(self.folder)
            if (parts := path.relative_to(self.folder).parts)[0] not in folders
            and not (len(parts) == 1 and parts[0] in apart)
        ]
        digest = digest_files(self.folder, files)
        if self.preparer is None or self.preparer.is_relative_to(self.folder):
            return digest
        adapter = self.preparer.parent
        both = digest + digest_files(adapter, task_files(adapter))
        return hashlib.sha256(both.encode()).hexdigest()


def task_files(folder: Path) -> list[Path]:
    """List a task's files in a fixed order, without what Python and editors leave behind."""
    return sorted(_walk(folder))


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def digest_files(root: Path, files: list[Path]) -> str:
    """Give the sha256 over names (relative to ``root``) and contents of files."""
    digest = hashlib.sha256()
    for path in files:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(root).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def load_task(folder: Path) -> Task:
    """Read and check a task folder; raises `TaskError` naming file, key and remedy."""
    folder = folder.absolute()
    top = read_table(folder / FILE)
    if (found := top.take("format", str)) != FORMAT:
        raise top.error("format", f'is "{found}"; this version of pytest-mlab reads "{FORMAT}"')
    return _build_task(folder, top)


def _build_task(folder: Path, top: Table) -> Task:
    task = Task(
        name=folder.name,
        folder=folder,
        title=top.take("title", str),
        tags=top.take("tags", tuple, default=()),
        starter=top.take("starter", str, default="train.py"),
        read_only=top.take("read_only", tuple, default=()),
        instruction=_read_instruction(folder),
        workspace=folder / "workspace",
        scorer=folder / "score.py",
        preparer=_existing(folder / "prepare.py"),
        solution=_existing(folder / "solution"),
        submission=top.table("submission").read(Submission),
        metric=top.table("metric").read(Metric),
        baseline=top.table("baseline").read(Baseline),
        limits=top.table("limits").read(Limits),
        resources=top.table("resources").read(Resources),
        data=top.table("data").read(Data),
    )
    top.finish()
    check_task(task, top)
    return task


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


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def _read_instruction(folder: Path) -> str:
    file = folder / "instruction.md"
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(
            f"{file}: cannot be read ({error}); write the research problem there, in UTF-8, "
            "as the agent shall get it"
        ) from error


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
    if _leaves(task.submission.file):
        raise top.error(
            "[submission] file",
            f'is "{task.submission.file}"; name a file within the workspace',
        )
    for text in task.resources.requires:
        try:
            Requirement(text)
        except InvalidRequirement:
            raise top.error(
                "[resources] requires",
                f'has "{text}"; name packages as pip does, such as "pandas>=2"',
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
    }
    for key, value in positive.items():
        if value is not None and value <= 0:
            raise top.error(key, f"is {value}; give a number above 0")
    for key, value in {
        "[baseline] std": task.baseline.std,
        "[resources] gpus": task.resources.gpus,
    }.items():
        if value < 0:
            raise top.error(key, f"is {value}; give 0 or more")
    _check_baseline(task, top)


def _check_baseline(task: Task, top: Table) -> None:
    baseline, metric = task.baseline, task.metric
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
    chance = chance_of_luck(task, THRESHOLD)
    if chance > LUCK:
        raise top.error(
            "[baseline] std",
            f"is {baseline.std:g} over {baseline.runs} runs: a do-nothing agent would succeed with "
            f"a probability of {chance:.1%}; make the starter's score steadier (a fixed seed, "
            f"a larger test set) or state more runs, until it is at most {LUCK:.0%}",
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
