"""What a trial has to leave as it was: files marked read-only, the prepared data, the scorer.

A fresh workspace is sealed; after the agent's turn, what the seal covers is looked at again.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from pytest_mlab.data import PreparedData, find_changed_data
from pytest_mlab.exceptions import NoSubmission, TaskError
from pytest_mlab.task import Task

Print = tuple[int, str]
"""The size of a file and the sha256 of its content; of a link, -1 and where it leads."""


@dataclass(frozen=True)
class Seal:
    """What a fresh workspace held that is to be found unchanged, and the scorer at that time.

    ``submission`` is None where the workspace began without one.
    """

    read_only: Mapping[str, Print]
    submission: Print | None
    scorer: Print | None


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a path within the workspace, or a folder above it, has one of these names."""
    path = Path(name)
    return any(
        fnmatch(str(part), pattern.removeprefix("./"))
        for part in (path, *path.parents)
        for pattern in patterns
    )


def seal_workspace(task: Task, root: Path) -> Seal:
    """Take the prints of a fresh workspace at ``root``."""
    names = [str(path.relative_to(root)) for path in _files(root)] if task.read_only else []
    prints = {name: _print(root, name) for name in names if matches(name, task.read_only)}
    return Seal(
        read_only={name: value for name, value in prints.items() if value is not None},
        submission=_print(root, task.submission.file),
        scorer=_print(task.scorer.parent, task.scorer.name),
    )


def originals(task: Task, root: Path) -> dict[Path, Path]:
    """Give what a confined process is to see in place of each file or folder marked read-only.

    These are the task's own, so that a link put in their place inside leads nowhere.
    """
    return {
        root / path.relative_to(task.workspace): path
        for path in _marked(task.workspace, task.workspace, task.read_only)
    }


def find_tampering(seal: Seal, root: Path, data: PreparedData) -> list[str]:
    """Say what was changed that had to be left alone, each with the evidence; usually nothing."""
    changes = [
        f"the read-only file {name} was {'changed' if after else 'removed'}"
        for name, before in seal.read_only.items()
        if (after := _print(root, name, before)) != before
    ]
    changes += [f"the prepared data were changed: {path}" for path in find_changed_data(data)]
    return changes


def check_scorer(task: Task, seal: Seal) -> None:
    """Raise `TaskError` where the scorer is not the one that was there when the trial began."""
    if _print(task.scorer.parent, task.scorer.name, seal.scorer) != seal.scorer:
        raise TaskError(
            f"{task.scorer}: was changed while the trial ran, so that its score would be of "
            "another task; run the trial again"
        )


def check_written(task: Task, seal: Seal, root: Path) -> None:
    """Raise `NoSubmission` where the submission is one that the trial began with.

    One that is edited in place and was not is scored: that is what the starter achieves.
    """
    if seal.submission is None or task.submission.in_place:
        return
    if _print(root, task.submission.file, seal.submission) == seal.submission:
        raise NoSubmission(
            f"{task.submission.file} is as it was before the agent's turn; a submission has to be "
            "written by the trial"
        )


def _files(folder: Path) -> Iterator[Path]:
    for path, folders, files in os.walk(folder):
        links = [name for name in folders if Path(path, name).is_symlink()]
        yield from (Path(path, name) for name in (*files, *links))


def _marked(folder: Path, top: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    """Give the outermost files and folders that are marked."""
    for path in sorted(folder.iterdir()) if patterns else []:
        if path.name == "__pycache__":
            continue
        if matches(str(path.relative_to(top)), patterns):
            yield path
        elif path.is_dir():
            yield from _marked(path, top, patterns)


def _print(root: Path, name: str, before: Print | None = None) -> Print | None:
    """Give the print of a file, or None where there is none; not all of one that has grown."""
    path = root / name
    if path.is_symlink():
        return -1, str(path.readlink())
    try:
        if path.parent.resolve() != (root.resolve() / name).parent:
            return -1, str(path.resolve())
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, RuntimeError):
        return (-1, "cannot be opened") if os.path.lexists(path) else None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return -1, "is no regular file"
        if before is not None and status.st_size != before[0]:
            return status.st_size, "has another size"
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return status.st_size, hashlib.file_digest(file, "sha256").hexdigest()
    finally:
        os.close(descriptor)
