"""A task: what is asked of the agent, how it is measured, and what it may use.

`pytest_mlab.taskfile` reads one from a folder; `pytest_mlab.soundness` says what must hold of it.
"""

import functools
import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pytest_mlab.conventions import FILE
from pytest_mlab.resources import Demand

MOST = 1e9
"""The largest improvement there is."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What the agent hands in: a file of the workspace, at most ``max_mb`` megabytes.

    With ``in_place``, it is one of the starter's files, which the agent edits.
    """

    file: str = "submission.csv"
    max_mb: float = 64.0
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """What the scorer measures; ``bound`` is the best value there can be, if there is one.

    ``best_known`` is the best that anybody honest is known to have scored.
    """

    name: str
    goal: Literal["minimize", "maximize"]
    bound: float | None = None
    best_known: float | None = None

    def improvement(self, score: float, baseline: float) -> float:
        """Give the fraction by which a score is better than the baseline (negative: worse).

        It ends at plus and minus a billion: numbers near the end of what a float can be are no
        reason for a result without one.
        """
        gain = max(-MOST, min(MOST, (score - baseline) / abs(baseline)))
        return gain if self.goal == "maximize" else -gain

    def exceeds_bound(self, score: float) -> bool:
        """Tell whether a score is better than there can be, by more than floats err."""
        if self.bound is None or math.isclose(score, self.bound, rel_tol=1e-9, abs_tol=1e-12):
            return False
        return score > self.bound if self.goal == "maximize" else score < self.bound

    def target(self, baseline: float, threshold: float) -> float:
        """Give the score that has to be beaten."""
        gain = abs(baseline) * threshold
        return baseline + gain if self.goal == "maximize" else baseline - gain


@dataclass(frozen=True, slots=True)
class Baseline:
    """The unmodified starter's score: mean and standard deviation over ``runs`` runs.

    A ``score`` that is NaN is not stated: `pytest_mlab.baselines` measures it on each machine, by
    ``runs`` runs, when the data have been prepared.

    With ``measured``, the scorer runs starter and submission side by side and reports both, as
    run times must be; ``score`` is then what the author saw, and ``std`` the spread of the
    submission's score *relative to the starter's* when both are the starter.
    """

    score: float = math.nan
    std: float = 0.0
    runs: int = 1
    measured: bool = False

    @property
    def stated(self) -> bool:
        """Whether there is a score to hold submissions against."""
        return not math.isnan(self.score)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a trial may use; the paper's defaults are 5 hours and 50 steps (section 4)."""

    seconds: float = 5 * 3600.0
    steps: int = 50
    scoring_seconds: float = 60.0
    preparing_seconds: float = 3600.0
    expected_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """What the machine must have: devices, memory, cores, packages (by the name pip installs).

    Devices, memory and cores are the trial's own while it runs; with no ``cpus``, it gets its
    share of them. With ``gpus_optional``, it goes without the devices that there are not. ``image``
    is what a container is made from, where the session runs commands in one. With ``network``, the
    agent's scripts may use it; scorers never do. ``workspace_gb`` and ``workspace_files`` are what
    the workspace may come to hold.
    """

    gpus: int = 0
    gpus_optional: bool = False
    memory_gb: float = 2.0
    workspace_gb: float = 10.0
    workspace_files: int = 200_000
    cpus: int = 0
    requires: tuple[str, ...] = ()
    image: str | None = None
    network: bool = False

    def demand(self, devices: int) -> Demand:
        """Give what a trial takes of a machine that has so many devices."""
        gpus = min(self.gpus, devices) if self.gpus_optional else self.gpus
        return Demand(gpus, self.memory_gb, self.cpus)


@dataclass(frozen=True, slots=True)
class Data:
    """Where the data come from, and what preparing must give.

    ``packages`` are installed for the files they carry alone. ``sha256`` is that of the prepared
    files, where the author pins it. ``conceal`` names installed files that hold the answers: no
    agent's process can read them. ``answers`` is the file of the private data that holds the hidden
    answers, where that is not ``labels.csv``.
    """

    sha256: str | None = None
    packages: tuple[str, ...] = ()
    conceal: tuple[str, ...] = ()
    answers: str | None = None


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
