"""A deadline for code that runs in this very process, such as an agent's own."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pytest_mlab.exceptions import LimitReached

GRACE = 5.0
"""Seconds that an agent's own code may overrun its time before it is interrupted."""

_SIGNAL = signal.SIGUSR1
_AGAIN = 1.0


@contextmanager
def enforce_deadline(seconds: float) -> Iterator[None]:
    """Raise ``LimitReached("time")`` in the body once it has lasted longer than ``seconds``.

    The exception is raised by a signal, so that a sleeping or blocked body is woken, and again
    every second. A body that swallows it, as a loop with a bare ``except`` does, gets the next one
    while it handles the one before, which ends the loop. Where the body does not run in the main
    thread, which alone gets signals, nothing is enforced.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over = threading.Event()
    swallowed = False

    def stop(signum: int, frame: FrameType | None) -> None:
        nonlocal swallowed
        frames = list(_walk(frame, below))
        if over.is_set() or any(map(_is_leaving, frames)):
            return
        if swallowed:
            _raise_at_next_line(frames)
        swallowed = True
        raise LimitReached("time")

    def watch(main: int, end: float) -> None:
        pause = end - time.monotonic()
        while not over.wait(max(0, pause)):
            signal.pthread_kill(main, _SIGNAL)
            pause = _AGAIN

    below = next(frame for frame in _walk(sys._getframe(), None) if not _is_leaving(frame))
    tracing = sys.gettrace()
    before = signal.signal(_SIGNAL, stop)
    watcher = threading.Thread(
        target=watch, args=(threading.get_ident(), time.monotonic() + seconds), daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        signal.signal(_SIGNAL, before)
        sys.settrace(tracing)


def _walk(frame: FrameType | None, until: FrameType | None) -> Iterator[FrameType]:
    while frame is not None and frame is not until:
        yield frame
        frame = frame.f_back


def _is_leaving(frame: FrameType) -> bool:
    """Tell whether a frame is of a context manager, ours too, at its end."""
    return frame.f_globals.get("__name__") in (__name__, "contextlib")


def _raise_at_next_line(frames: list[FrameType]) -> None:
    """Make the next line of the agent's own functions raise, be it in an ``except`` or ``finally``.

    Those of this package are spared: they are about to end the processes they have started.
    Python ends a trace with its first exception, so this is one of these lines.
    """

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            raise LimitReached("time")
        return trace

    sys.settrace(lambda *_: None)
    for frame in frames:
        if not frame.f_globals.get("__name__", "").startswith("pytest_mlab."):
            frame.f_trace = trace
