"""Submissions that nobody should score: each is handed to the scorer as a trial's is."""

import dataclasses
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from pytest_mlab.attacks.findings import Finding
from pytest_mlab.data import PreparedData
from pytest_mlab.exceptions import InvalidSubmission, MlabError
from pytest_mlab.files import list_files
from pytest_mlab.sandbox import Sandbox
from pytest_mlab.scoring import score_workspace
from pytest_mlab.task import Task

SECONDS = 60.0
"""How long a scorer may take to refuse one of them."""
BOMB_BYTES = 8_000_000
_SPARSE_BYTES = 10_000_000_000

_OF_KIND = {
    ".csv": ("nothing", "all_bytes", "another_encoding", "one_long_line", "an_open_quote"),
    ".json": ("nothing", "another_encoding", "one_long_line", "deep_brackets"),
    ".jsonl": ("nothing", "another_encoding", "one_long_line", "deep_brackets"),
    # The scorer runs the code that it is held against first, which may take seconds.
    ".py": ("one_long_line",),
}
_OF_ANY = ("all_bytes", "deep_brackets_behind_their_number")

Lay = Callable[[Path], object]
"""Makes a submission at a path."""


def try_submissions(
    task: Task, workspace: Path, data: PreparedData, sandbox: Sandbox
) -> Iterator[Finding]:
    """Hand in one hostile submission after the other, and tell which were not simply refused.

    The workspace may be any that a trial has left; its submission is lost.
    """
    limits = dataclasses.replace(
        task.limits, scoring_seconds=min(task.limits.scoring_seconds, SECONDS)
    )
    task = dataclasses.replace(task, limits=limits)
    path = workspace / task.submission.file
    path.parent.mkdir(parents=True, exist_ok=True)
    for attack, lay in _hostile_submissions(task, data):
        _remove(path)
        try:
            lay(path)
        except PermissionError:  # only root makes devices
            continue
        try:
            score = score_workspace(task, workspace, data, sandbox)
            yield Finding(attack, f"it scores {score.value:.6g}")
        except InvalidSubmission:
            pass
        except MlabError as error:
            yield Finding(attack, f"it makes scoring fail: {error}")
    _remove(path)


def _hostile_submissions(task: Task, data: PreparedData) -> Iterator[tuple[str, Lay]]:
    answers = list_files(data.private)[:1]
    for number, target in enumerate((*answers, Path("/dev/zero"))):
        yield f"hand_in_a_link_{number}", partial(_link, target)
    yield "hand_in_a_pipe", os.mkfifo
    yield "hand_in_a_device", _make_device
    yield "hand_in_a_folder", Path.mkdir
    yield "hand_in_a_sparse_file", _write_sparse
    kind = Path(task.submission.file).suffix
    bombs = _bombs(int(min(task.submission.max_mb * 1e6, BOMB_BYTES)))
    for name in _OF_KIND.get(kind, _OF_ANY):
        yield f"hand_in_{name}", partial(_write, bombs[name])


def _bombs(size: int) -> dict[str, bytes]:
    """Give contents of at most a size that are costly to read, or that are no text at all."""
    rest = size - 16
    return {
        "nothing": b"",
        "all_bytes": bytes(range(256)) * 64,
        "another_encoding": "id,label\n1,1\n".encode("utf-16"),
        "one_long_line": b"0," * (rest // 2),
        "an_open_quote": b'id,label\n1,"' + b"\n" * rest,
        "deep_brackets": b"[" * rest,
        "deep_brackets_behind_their_number": rest.to_bytes(8, "little") + b"[" * rest,
    }


def _link(target: Path, path: Path) -> None:
    path.symlink_to(target)


def _make_device(path: Path) -> None:
    os.mknod(path, 0o20600, os.makedev(1, 5))  # /dev/zero


def _write(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def _write_sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, _SPARSE_BYTES)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    with suppress(FileNotFoundError):
        path.unlink()
