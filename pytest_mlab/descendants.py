"""Ending everything that a child process has started, daemons in sessions of their own included.

Linux only: an orphan is handed to the nearest ancestor that asked for orphans, which is this
process while `adopted_orphans` is open. To be used in a process that starts one child at a time.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_PR_SET_CHILD_SUBREAPER = 36
_KILLING_SECONDS = 5.0


class StillRunning(Exception):
    """Processes multiply faster than they can be killed."""


@contextlib.contextmanager
def adopted_orphans() -> Iterator[None]:
    """Adopt what a child leaves running, and kill it at the end; raises `StillRunning`.

    The child itself has to be over by then.
    """
    others = _list_children()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        try:
            _kill_children_except(others)
        finally:
            _prctl(_PR_SET_CHILD_SUBREAPER, 0)


@contextlib.contextmanager
def closed_memory() -> Iterator[None]:
    """Keep this process's memory from others of its user, unless they may trace any process."""
    before = _prctl(_PR_GET_DUMPABLE, 0)
    _prctl(_PR_SET_DUMPABLE, 0)
    try:
        yield
    finally:
        _prctl(_PR_SET_DUMPABLE, before)


def _prctl(option: int, value: int) -> int:
    return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))


def _kill_children_except(others: set[int]) -> None:
    deadline = time.monotonic() + _KILLING_SECONDS
    # The children of a child that is killed are adopted in their turn.
    while orphans := _list_children() - others:
        for orphan in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(orphan, signal.SIGKILL)
        for orphan in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(orphan, 0)
        if time.monotonic() > deadline:
            raise StillRunning


def _list_children() -> set[int]:
    children = set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = file.read_bytes().rpartition(b")")[2].split()[1]
            if int(parent) == os.getpid():
                children.add(int(file.parent.name))
    return children
