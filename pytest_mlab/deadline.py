"""A deadline for code that runs in this very process, such as an agent's own."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pytest_mlab.exceptions import LimitReached

_SIGNAL = signal.SIGUSR1
_AGAIN = 1.0


@contextmanager
def enforce_deadline(seconds: float) -> Iterator[None]:
    """Raise ``LimitReached("time")`` in the body once it has lasted longer than ``seconds``.

    The exception is raised by a signal, so that a sleeping or blocked body is woken, and again
    every second, so that a body that swallows it ends all the same. Where the body does not run in
    the main thread, which alone gets signals, nothing is enforced.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over = threading.Event()

    def stop(signum: int, frame: FrameType | None) -> None:
        if not over.is_set():
            raise LimitReached("time")

    def watch(main: int, end: float) -> None:
        while not over.wait(max(_AGAIN, end - time.monotonic())):
            signal.pthread_kill(main, _SIGNAL)

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
