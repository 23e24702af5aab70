"""The preparer of a folder in the original's format: runs its ``prepare.py`` on a copy.

What the original then copies into every workspace is taken apart here. Files that ``prepare.py``
made or changed, and those that ``read_only_files.txt`` lists, are data: made once, read-only and
shared. All others are starter files, of which every trial gets its own.
"""

import os
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path

from pytest_mlab.children import CHILD_ENVIRONMENT
from pytest_mlab.data import PreparedData
from pytest_mlab.exceptions import TaskError, Unavailable
from pytest_mlab.mlagentbench.baseline import measure_baseline
from pytest_mlab.mlagentbench.folder import load_mlagentbench, read_data_patterns
from pytest_mlab.mlagentbench.record import Record
from pytest_mlab.mlagentbench.script import Script
from pytest_mlab.task import Task, task_files

PREPARED = "prepared"
"""The file in ``scripts/`` that says, in the original too, that ``prepare.py`` has been run."""

Stamps = dict[str, tuple[int, int, int]]


def build(raw: Path, public: Path, private: Path) -> None:
    """Prepare the task in the current folder: its data, its baseline."""
    task = load_mlagentbench(Path.cwd())
    ignored = shutil.ignore_patterns("__pycache__")
    for source in (task.workspace, task.folder / "scripts"):
        shutil.copytree(source, private / source.name, ignore=ignored)
    before = _stamp_files(private / "env")
    printed = _run_preparer(task, private / "scripts")
    after = _stamp_files(private / "env")
    patterns = read_data_patterns(task.folder)
    listed = {name for name in after for pattern in patterns if fnmatch(name, pattern)}
    if printed is not None and patterns and not listed:
        raise Unavailable(
            f"{task.folder}/scripts/prepare.py: ended without an error, but of the files that "
            "read_only_files.txt lists, none is there: a download has failed. It printed\n"
            f"{printed}"
        )
    data = listed | {name for name, stamp in after.items() if before.get(name) != stamp}
    _check_data(task, data, before.keys() - after.keys())
    _publish(private / "env", public, data)
    Record(task.submission.file).write(private)
    if task.scorer.name == "score.py":
        _try_evaluation(task, private)
        if task.baseline.measured:
            scores = measure_baseline(task, PreparedData(public, private))
            Record(task.submission.file, scores).write(private)


def _stamp_files(folder: Path) -> Stamps:
    stamps = {}
    for path in task_files(folder):
        status = path.stat()
        name = path.relative_to(folder).as_posix()
        stamps[name] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return stamps


def _run_preparer(task: Task, scripts: Path) -> str | None:
    """Run ``prepare.py`` where there is one that has not been run; give what it printed."""
    if not (scripts / "prepare.py").exists() or (scripts / PREPARED).exists():
        return None
    inherited = {key: value for key, value in os.environ.items() if key not in CHILD_ENVIRONMENT}
    script = Script(
        task.folder / "scripts" / "prepare.py",
        [sys.executable, "prepare.py"],
        cwd=scripts,
        environment={**inherited, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return script.run(task.limits.preparing_seconds)


def _check_data(task: Task, data: set[str], removed: set[str]) -> None:
    """Refuse what would leave a wrong file in every workspace."""
    preparer = task.folder / "scripts" / "prepare.py"
    by_hand = f"run it by hand, once: cd {preparer.parent} && python prepare.py && touch prepared"
    if removed:
        raise TaskError(
            f"{preparer}: removes {', '.join(sorted(removed))} from env/, of which every workspace "
            f"would still get a copy; {by_hand}"
        )
    if task.starter in data:
        raise TaskError(
            f"{preparer}: changes {task.starter}, or read_only_files.txt lists it, but that is the "
            f"script to be improved; {by_hand}, or take it off the list"
        )
    if task.submission.file in data:
        raise TaskError(
            f"{preparer}: leaves a {task.submission.file} in env/, but that is for the agent to "
            "make; delete it there at the end"
        )


def _publish(env: Path, public: Path, names: set[str]) -> None:
    for name in names:
        target = public / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link((env / name).resolve(), target)
        except OSError:
            shutil.copyfile(env / name, target)


def _try_evaluation(task: Task, private: Path) -> None:
    """Import ``eval.py`` before anything depends on it: is all here that it needs?"""
    evaluation = private / "scripts" / "eval.py"
    code = (
        f"from pytest_mlab.mlagentbench.score import *; load_evaluation(Path({str(evaluation)!r}))"
    )
    script = Script(
        task.folder / "scripts" / "eval.py",
        [sys.executable, "-P", "-c", code],
        cwd=private / "env",
        environment=dict(os.environ) | CHILD_ENVIRONMENT,
    )
    script.run(task.limits.scoring_seconds)
