"""Scoring a submission in a fresh process, apart from everything the agent could touch."""

import json
import math
import os
import secrets
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mlab.children import CHILD_ENVIRONMENT, PACKAGE, child_command
from pytest_mlab.data import PreparedData
from pytest_mlab.exceptions import InvalidSubmission, NoSubmission, TaskError
from pytest_mlab.process import Completed, run_command
from pytest_mlab.sandbox import Sandbox, View
from pytest_mlab.task import Task


@dataclass(frozen=True)
class Score:
    """A submission's score and the baseline to hold it against, in the metric's unit."""

    value: float
    baseline: float


def score_workspace(task: Task, workspace: Path, data: PreparedData, sandbox: Sandbox) -> Score:
    """Score the submission that lies in a workspace now.

    Raises `NoSubmission` or `InvalidSubmission` where the agent is at fault, and `TaskError` where
    the scorer is.
    """
    with tempfile.TemporaryDirectory(prefix="mlab-scoring-") as name:
        scratch = Path(name).resolve()
        submission = scratch / Path(task.submission.file).name
        _copy_submission(task, workspace, submission)
        return _run_scorer(task, submission, data, sandbox, scratch)


def _copy_submission(task: Task, workspace: Path, copy: Path) -> None:
    file = task.submission.file
    path = workspace / file
    if not os.path.lexists(path):
        raise NoSubmission(f"there is no {file} in the workspace")
    if path.parent.resolve() != workspace.resolve() / Path(file).parent:
        raise InvalidSubmission(f"{file} lies behind a symbolic link; hand in a regular file")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise InvalidSubmission(
            f"{file} cannot be read as a regular file ({error.strerror}); "
            "a symbolic link is not followed"
        ) from error
    with os.fdopen(descriptor, "rb") as source:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidSubmission(f"{file} is not a regular file")
        if status.st_size > task.submission.max_mb * 1e6:
            raise InvalidSubmission(
                f"{file} has {status.st_size / 1e6:.1f} MB; "
                f"at most {task.submission.max_mb:g} MB are read"
            )
        with copy.open("wb") as target:
            shutil.copyfileobj(source, target)


def _run_scorer(
    task: Task, submission: Path, data: PreparedData, sandbox: Sandbox, scratch: Path
) -> Score:
    token = secrets.token_hex()
    view = View(
        writable=scratch,
        readable=(data.private, task.scorer, PACKAGE),
        memory_gb=task.resources.memory_gb,
        environment=CHILD_ENVIRONMENT,
    )
    reading, writing = os.pipe()
    try:
        paths = [str(path) for path in (task.scorer, submission, data.private)]
        run = run_command(
            sandbox.command(child_command("score", str(writing), *paths), view),
            cwd=scratch,
            environment=sandbox.environment(view),
            seconds=task.limits.scoring_seconds,
            stdin=f"{token}\n".encode(),
            pass_fds=(writing,),
        )
        os.close(writing)
        writing = -1
        report = _read_report(reading, token)
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)
    if report is None:
        raise TaskError(_describe_failure(task, run))
    return _judge_report(task, report)


def _read_report(descriptor: int, token: str) -> dict[str, Any] | None:
    os.set_blocking(descriptor, False)
    try:
        text = os.read(descriptor, 1 << 20)
    except BlockingIOError:
        return None
    try:
        report = json.loads(text)
    except ValueError:
        return None
    return report if isinstance(report, dict) and report.get("token") == token else None


def _describe_failure(task: Task, run: Completed) -> str:
    if run.ended == "timeout":
        return (
            f"{task.scorer}: score() did not return within "
            f"[limits] scoring_seconds = {task.limits.scoring_seconds:g}; make it faster or allow "
            "more"
        )
    return f"{task.scorer}: the scoring process gave no score ({run.describe_end()})\n{run.stderr}"


def _judge_report(task: Task, report: dict[str, Any]) -> Score:
    if "invalid" in report:
        raise InvalidSubmission(report["invalid"])
    if "fault" in report:
        raise TaskError(report["fault"])
    if "error" in report:
        raise TaskError(f"{task.scorer}: score() raised\n{report['error']}")
    value = report["score"]
    wanted = "a pair of numbers, (score, baseline)" if task.baseline.measured else "a number"
    numbers = value if isinstance(value, list) else [value]
    if len(numbers) != (2 if task.baseline.measured else 1) or not all(map(_is_finite, numbers)):
        raise TaskError(f"{task.scorer}: score() returned {value}; it must return {wanted}, finite")
    score, baseline = numbers if task.baseline.measured else (value, task.baseline.score)
    if baseline == 0:
        raise TaskError(f"{task.scorer}: score() measured a baseline of 0")
    return Score(score, baseline)


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)
