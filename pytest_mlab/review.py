"""What is odd about a scored submission: grounds for a person to look at the trial, not proof."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import InfraError
from pytest_mlab.results import Identity
from pytest_mlab.scoring import Score
from pytest_mlab.task import Task

SUBMISSIONS = "submissions.jsonl"
"""Successful submissions by their digests, in the session's folder; all its processes add to it."""

_MOST_FILES = 1000
_MOST_BYTES = 1_000_000


def find_flags(
    task: Task, identity: Identity, score: Score, *, workspace: Path, session: Path
) -> tuple[str, ...]:
    """Give the grounds to look at a trial that succeeded, each a sentence with its evidence."""
    found = (_find_implausible(task, score), _find_twin(identity, score, workspace, session))
    return tuple(filter(None, found))


def _find_implausible(task: Task, score: Score) -> str:
    metric = task.metric
    if metric.best_known is None:
        return ""
    best = metric.best_known
    if task.baseline.measured:  # on this machine as it was on the author's
        best *= score.baseline / task.baseline.score
    # Half of what is left to gain; where there is no end, half as much again as was ever gained.
    end = 2 * best - score.baseline if metric.bound is None else metric.bound
    limit = (best + end) / 2
    beyond = score.value > limit if metric.goal == "maximize" else score.value < limit
    if not beyond:
        return ""
    return (
        f"{metric.name} {score.value:.6g} is far better than the best known, {best:.6g}: look for "
        "answers that were found or remembered"
    )


def _find_twin(identity: Identity, score: Score, workspace: Path, session: Path) -> str:
    """Look for another trial with the same submission that the same code does not explain.

    Two agents without a language model may come upon the same answers, and one that replays
    another's calls must; a submission that is code has nothing that would explain it.
    """
    file = session / SUBMISSIONS
    own = {
        **{key: getattr(identity, key) for key in ("task", "agent", "llm", "trial", "nodeid")},
        "submission": score.submission,
        "code": _digest_code(workspace, score.submission),
    }
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(own) + "\n")
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InfraError(f"{file}: cannot be written: {error.strerror}") from error
    for other in _parse(lines):
        if _is_twin(own, other):
            who = " · ".join(filter(None, (other["task"], other["agent"], other["llm"])))
            return (
                f"the submission is, byte by byte, that of {who} · trial {other['trial']}, made by "
                "other code"
            )
    return ""


def _is_twin(own: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    asked = [trial["llm"] for trial in (own, other) if trial["llm"]]
    return (
        own["nodeid"] != other["nodeid"]
        and own["task"] == other["task"]
        and own["submission"] == other["submission"]
        and own["code"] != other["code"]
        and bool(asked)
        and not any(llm.startswith("replay:") for llm in asked)
    )


def _parse(lines: list[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with suppress(ValueError):  # another process is in the middle of writing it
            yield json.loads(line)


def _digest_code(workspace: Path, submission: str) -> str:
    """Give the sha256 over all Python files of a workspace but the submission itself."""
    digests = set()
    for path in _python_files(workspace):
        with suppress(OSError):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < _MOST_BYTES:
                digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    return hashlib.sha256("\n".join(sorted(digests - {submission})).encode()).hexdigest()


def _python_files(workspace: Path) -> Iterator[Path]:
    left = _MOST_FILES
    for folder, _, files in os.walk(workspace):
        for name in files:
            if name.endswith(".py"):
                yield Path(folder, name)
        left -= len(files)
        if left < 0:
            return
