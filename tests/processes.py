"""Python processes started by tests."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def start_python(code: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Start Python on a piece of code that may import this package and the tests' helpers."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment,
    )


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait for a condition, and tell whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        return not Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].startswith(" Z")
    except (FileNotFoundError, ProcessLookupError):
        return False
