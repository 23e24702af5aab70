"""Prepared data: made once, kept in the user's cache, public and private apart.

    <cache>/raw/<task>/                              what download() fetched, or a user put there
    <cache>/data/<task>-<digest of the task>/
        public/                                      what the agent sees, read-only
        private/                                     what only the scorer sees
        manifest.json                                size and sha256 of every file
        baseline-<digest of all>.json                what the starter scored here, if need be
    <cache>/locks/<task>.lock                        one process prepares, the others wait

A folder under ``data/`` is renamed into place when it is whole, so that a killed preparation leaves
nothing that looks finished.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from pytest_mlab.children import CHILD_ENVIRONMENT, child_command
from pytest_mlab.exceptions import InfraError, TaskError, Unavailable
from pytest_mlab.files import hash_file, list_files
from pytest_mlab.packages import require_packages
from pytest_mlab.process import run_command
from pytest_mlab.task import Task

MANIFEST = "manifest.json"
_FAULTS = {"unavailable": Unavailable, "infra": InfraError, "task": TaskError}

Watch = Callable[[Sequence[Path]], AbstractContextManager[object]]
"""Called with the folders that fill up while a task is being prepared; shows progress."""


@dataclass(frozen=True)
class PreparedData:
    """Where a task's prepared data lie."""

    public: Path
    private: Path


def cache_folder() -> Path:
    """Give the folder of the cache: ``MLAB_CACHE`` or the user's cache folder."""
    named = os.environ.get("MLAB_CACHE")
    return Path(named).absolute() if named else user_cache_path("pytest-mlab")


def raw_folder(task: Task) -> Path:
    """Give the folder of what a task's ``download`` fetches; a user may put the files there."""
    return cache_folder() / "raw" / task.name


def _watch_nothing(_: Sequence[Path]) -> AbstractContextManager[object]:
    return nullcontext()


def prepare_data(task: Task, watch: Watch = _watch_nothing) -> PreparedData:
    """Give a task's data, prepared now if they are not in the cache.

    Raises `Unavailable` (with the remedy) where a package, a credential or a consent is missing,
    `InfraError` where a download failed, and `TaskError` where ``prepare.py`` is wrong or the
    cached data are not what was prepared.
    """
    _require_packages(task)
    folder = cache_folder() / "data" / f"{task.name}-{task.data_digest[:16]}"
    if not (folder / MANIFEST).exists():
        with lock_task(task):
            if not (folder / MANIFEST).exists():
                # What killed preparations left: nobody else is at work on a locked task.
                for remains in (folder, *folder.parent.glob(f".{folder.name}.*")):
                    shutil.rmtree(remains, ignore_errors=True)
                _prepare_into(task, folder, watch)
    data = PreparedData(folder / "public", folder / "private")
    _check_untouched(data)
    return data


def prepare_apart(task: Task, folder: Path) -> PreparedData:
    """Prepare a task's data anew into a folder of one's own, outside the cache's ``data/``."""
    _require_packages(task)
    with lock_task(task):
        _prepare_into(task, folder, _watch_nothing)
    return PreparedData(folder / "public", folder / "private")


def _require_packages(task: Task) -> None:
    carriers = task.data.packages
    require_packages(task.resources.requires, f"task {task.name}", carriers=carriers)


def lock_task(task: Task) -> FileLock:
    """Give the lock of all that is downloaded, prepared or measured for a task of this name."""
    locks = cache_folder() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    return FileLock(locks / f"{task.name}.lock")


def _prepare_into(task: Task, folder: Path, watch: Watch) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with watch([raw_folder(task), unfinished]):
            _fill(task, unfinished)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _fill(task: Task, folder: Path) -> None:
    data = PreparedData(folder / "public", folder / "private")
    data.public.mkdir()
    data.private.mkdir()
    if task.preparer is not None:
        _run_preparer(task, task.preparer, data, folder / "outcome.json")
    manifest = _describe(folder)
    _check_pin(task, manifest)
    _protect(data.public)
    (folder / MANIFEST).write_text(json.dumps(_stamp(folder, manifest)))


def _run_preparer(task: Task, preparer: Path, data: PreparedData, outcome: Path) -> None:
    raw = raw_folder(task)
    raw.mkdir(parents=True, exist_ok=True)
    paths = [str(path) for path in (outcome, preparer, raw, data.public, data.private)]
    watched, alive = os.pipe()
    try:
        run = run_command(
            child_command("prepare", str(watched), *paths),
            cwd=task.folder,
            environment=dict(os.environ) | CHILD_ENVIRONMENT,
            seconds=task.limits.preparing_seconds,
            pass_fds=(watched,),
        )
    finally:
        os.close(watched)
        os.close(alive)
    if run.ended == "timeout":
        raise TaskError(
            f"{preparer}: did not come to an end within [limits] preparing_seconds = "
            f"{task.limits.preparing_seconds:g}; make it faster or allow more\n{run.stderr}"
        )
    if not outcome.exists():
        raise TaskError(f"{preparer}: ended early ({run.describe_end()})\n{run.stderr}")
    report = json.loads(outcome.read_text(encoding="utf-8"))
    outcome.unlink()
    if report["fault"]:
        raise _FAULTS[report["fault"]](report["message"])


def _describe(folder: Path) -> dict[str, str]:
    """Give the sha256 of every prepared file by its name."""
    return {
        path.relative_to(folder).as_posix(): hash_file(path)
        for part in ("public", "private")
        for path in list_files(folder / part)
    }


def data_sha256(manifest: dict[str, str]) -> str:
    """Give the digest that ``[data] sha256`` pins, over the names and digests of all files."""
    lines = (f"{digest}  {name}\n" for name, digest in sorted(manifest.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _check_pin(task: Task, manifest: dict[str, str]) -> None:
    found, pinned = data_sha256(manifest), task.data.sha256
    if pinned is not None and found != pinned:
        raise TaskError(
            f"{task.folder}: [data] sha256 is {pinned}, but preparing gave {found}: the source "
            "has changed, or a package that prepares it; scores would not be comparable"
        )


def _protect(public: Path) -> None:
    for path in list_files(public):
        path.chmod(0o444)


def _stamp(folder: Path, manifest: dict[str, str]) -> dict[str, list[object]]:
    stamps: dict[str, list[object]] = {}
    for name, digest in manifest.items():
        status = (folder / name).stat()
        stamps[name] = [digest, status.st_size, status.st_mtime_ns]
    return stamps


def find_changed_data(data: PreparedData) -> list[Path]:
    """Give the prepared files that are no longer what was prepared, and those that came to them.

    They are compared by size and time or, failing that, in full: hashing a gigabyte for every
    trial would take longer than the trial, and a cache that was copied from elsewhere has other
    times and is as good.
    """
    folder = data.public.parent
    try:
        stamps = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return [folder / MANIFEST]
    changed = [folder / name for name, stamp in stamps.items() if _differs(folder / name, *stamp)]
    return changed + [
        path
        for path in list_files(data.public)
        if path.relative_to(folder).as_posix() not in stamps
    ]


def _differs(path: Path, digest: str, size: int, modified: int) -> bool:
    if not path.is_file():
        return True
    status = path.stat()
    same = (status.st_size, status.st_mtime_ns) == (size, modified)
    return not same and (status.st_size != size or hash_file(path) != digest)


def _check_untouched(data: PreparedData) -> None:
    for path in find_changed_data(data):
        raise TaskError(
            f"{path}: was changed after it was prepared; delete {data.public.parent} to prepare it "
            "again"
        )
