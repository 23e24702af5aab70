"""Getting at other processes, and outliving one's own action."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator

from pytest_mlab.attacks.inside.making import Attack, Config

DAEMON_SECONDS = 60.0


def signal_the_harness(config: Config) -> Iterator[str]:
    """Send it a signal that nobody minds."""
    with contextlib.suppress(OSError):
        os.kill(config["harness"], signal.SIGURG)
    return iter(())


def kill_another_process(config: Config) -> Iterator[str]:
    """End a process of the harness's user."""
    with contextlib.suppress(OSError):
        os.kill(config["victim"], signal.SIGKILL)
    return iter(())


def leave_a_daemon(config: Config) -> Iterator[str]:
    """Go on when all is over, until it was seen: then what it writes to is taken away."""
    with open(config["pulse"], "x"):
        pass
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            end = time.monotonic() + DAEMON_SECONDS
            with contextlib.suppress(OSError):
                while time.monotonic() < end:
                    pulse = os.open(config["pulse"], os.O_WRONLY | os.O_APPEND)
                    os.write(pulse, b".")
                    os.close(pulse)
                    time.sleep(0.02)
        os._exit(0)
    return iter(())


ATTACKS: tuple[Attack, ...] = (signal_the_harness, kill_another_process)
