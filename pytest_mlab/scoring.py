"""Scoring a submission in a fresh process, apart from everything the agent could touch."""

import hashlib
import json
import math
import os
import secrets
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_mlab.children import CHILD_ENVIRONMENT, PACKAGE, child_command
from pytest_mlab.data import PreparedData
from pytest_mlab.exceptions import InfraError, InvalidSubmission, NoSubmission, TaskError
from pytest_mlab.process import Completed, run_command
from pytest_mlab.quota import Quota
from pytest_mlab.sandbox import Sandbox, View
from pytest_mlab.task import Task


@dataclass(frozen=True)
class Score:
    """A submission's score and the baseline to hold it against, in the metric's unit.

    ``submission`` is the sha256 of what was scored.
    """

    value: float
    baseline: float
    submission: str = field(default="", compare=False)


def score_workspace(task: Task, workspace: Path, data: PreparedData, sandbox: Sandbox) -> Score:
    """Score the submission that lies in a workspace now.

    Raises `NoSubmission` or `InvalidSubmission` where the agent is at fault, `TaskError` where the
    scorer is, and `InfraError` where the machine is.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="mlab-scoring-") as name:
            scratch = Path(name).resolve()
            submission = scratch / Path(task.submission.file).name
            _copy_submission(task, workspace, submission)
            return _run_scorer(task, submission, data, sandbox, scratch)
    except OSError as error:
        raise InfraError(f"the submission could not be scored: {error}") from error


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
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise InvalidSubmission(f"{file} is not a regular file")
    with os.fdopen(descriptor, "rb") as source:
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
        workspace_gb=task.resources.workspace_gb,
        workspace_files=task.resources.workspace_files,
        image=task.resources.image,
        environment=CHILD_ENVIRONMENT,
    )
    reading, writing, channel = _open_channel(sandbox, scratch)
    try:
        paths = [str(path) for path in (task.scorer, submission, data.private)]
        run = run_command(
            sandbox.command(child_command("score", channel, *paths), view),
            cwd=scratch,
            environment=sandbox.environment(view),
            seconds=task.limits.scoring_seconds,
            stdin=f"{token}\n".encode(),
            pass_fds=(writing,),
            drain_seconds=sandbox.drain_seconds,
            quota=Quota(scratch, view.workspace_gb, view.workspace_files),
        )
        os.close(writing)
        writing = -1
        report = _read_report(reading, token)
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)
    if not report:
        if task.baseline.measured and (run.was_killed or run.excess):
            raise InvalidSubmission("the scoring process was killed while it ran the submission")
        if task.baseline.measured and report is not None:
            raise InvalidSubmission("the submission's code wrote to where the score is awaited")
        raise TaskError(_describe_failure(task, run))
    with submission.open("rb") as file:
        report["submission"] = hashlib.file_digest(file, "sha256").hexdigest()
    return _judge_report(task, report)


def _open_channel(sandbox: Sandbox, scratch: Path) -> tuple[int, int, str]:
    """Give both ends of a pipe for the outcome, and what the scoring process knows its end by.

    Where no descriptor can be handed in, that is a pipe with a name.
    """
    if sandbox.inherits:
        reading, writing = os.pipe()
        return reading, writing, str(writing)
    path = scratch / f"outcome-{secrets.token_hex(8)}"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    return reading, os.open(path, os.O_WRONLY), str(path)


def _read_report(descriptor: int, token: str) -> dict[str, Any] | None:
    """Find the scoring process's line; empty where only others wrote, None where nobody did."""
    os.set_blocking(descriptor, False)
    try:
        lines = os.read(descriptor, 1 << 20).splitlines()
    except BlockingIOError:
        return None
    for line in lines:
        with suppress(ValueError, RecursionError):
            report = json.loads(line)
            if isinstance(report, dict) and report.get("token") == token:
                return report
    return {} if lines else None


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
    measured = task.baseline.measured
    numbers = value if measured else [value, task.baseline.score]
    if not isinstance(numbers, list) or len(numbers) != 2 or not all(map(_is_finite, numbers)):
        wanted = "a pair of finite numbers, (score, baseline)" if measured else "a finite number"
        raise TaskError(f"{task.scorer}: score() returned {value}; it must return {wanted}")
    score, baseline = numbers
    if baseline == 0:
        raise TaskError(f"{task.scorer}: score() measured a baseline of 0")
    _check_bound(task, score)
    return Score(score, baseline, report["submission"])


def _check_bound(task: Task, score: float) -> None:
    """Refuse a score better than there can be: the scorer errs, or was led to."""
    if task.metric.exceeds_bound(score):
        raise TaskError(
            f"{task.scorer}: score() returned {score:.6g}, better than [metric] bound = "
            f"{task.metric.bound:g}; correct the one that is wrong, and look at the submission: it "
            "may have misled the scorer"
        )


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)
