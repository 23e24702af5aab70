"""A terminal for tests: what a command shows on it, meanwhile and in the end."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyte

COLUMNS, LINES = 80, 50


@dataclass(frozen=True)
class Shown:
    """What a terminal showed: each picture that lasted for a while, and the last."""

    pictures: list[str]
    last: str


def show(command: Sequence[str], cwd: Path, *, seconds: float = 120) -> Shown:
    """Run a command on a terminal of its own until it ends, for so many seconds at most."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color"}
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdin=inside, stdout=inside, stderr=inside
    )
    os.close(inside)
    screen = pyte.HistoryScreen(COLUMNS, LINES, history=1000)
    stream = pyte.ByteStream(screen)
    pictures: list[str] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.05)[0]:
            pictures += [_read(screen)]
            continue
        try:
            stream.feed(os.read(terminal, 65536))
        except OSError:  # the other end is closed
            break
    os.close(terminal)
    process.kill()
    process.wait()
    return Shown(pictures, _read(screen))


def _read(screen: pyte.HistoryScreen) -> str:
    gone = ["".join(line[at].data for at in range(COLUMNS)) for line in screen.history.top]
    return "\n".join(line.rstrip() for line in [*gone, *screen.display]).rstrip()
