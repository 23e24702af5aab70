"""Run a command where killing our own process group would not reach it.

    python -I supervise.py sandlock SETTINGS ARGV...     confined by the library sandlock
    python -I supervise.py container SETTINGS ARGV...    ARGV runs a container

SETTINGS is a JSON object. This process only waits; a second one, in a session of its own, runs the
command, and when the first is gone, however it went, ends all that the command has started and
removes what was made for it. It imports nothing of pytest-mlab.
"""

import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

Settings = dict[str, Any]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Where a library does not tell which signal ended a command.
_KILLED = 128 + signal.SIGKILL


def main() -> int:
    """Wait for the supervisor; give the command's exit code."""
    kind, settings, *argv = sys.argv[1:]
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    reading, writing = os.pipe()
    supervisor = os.fork()
    if supervisor == 0:
        os.close(writing)
        os.setsid()
        code = 125
        try:
            code = _KINDS[kind](json.loads(settings), argv, reading)
        except Exception as error:
            print(f"{kind}: {error}", file=sys.stderr)
        finally:
            os._exit(code)
    os.close(reading)
    _, status = os.waitpid(supervisor, 0)
    return _exit_code(os.waitstatus_to_exitcode(status))


def run_sandlock(settings: Settings, argv: list[str], alive: int) -> int:
    """Run a command confined, with a folder of its own for scratch files.

    What it leaves behind, in whatever session, becomes a child of this process.
    """
    sys.path.append(settings["library"])
    import sandlock

    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    scratch, options = settings["scratch"], settings["options"]

    def clean_up() -> None:
        _kill_children()
        try:
            Path(scratch).rmdir()
        except OSError:
            import shutil  # loading it takes longer than most folders take to be removed

            shutil.rmtree(scratch, ignore_errors=True)

    _when_gone(alive, clean_up)
    Path(scratch).mkdir(0o700)
    os.environ |= {"HOME": scratch, "TMPDIR": scratch}
    options["fs_writable"].append(scratch)
    try:
        code: int = sandlock.Sandbox(**options).popen(argv).wait().exit_code
    finally:
        clean_up()
    return code if code >= 0 else _KILLED


def run_container(settings: Settings, argv: list[str], alive: int) -> int:
    """Run a container; killing the program that talks to its engine would leave it running."""
    import subprocess

    process = subprocess.Popen(argv)

    def remove() -> None:
        process.kill()
        subprocess.run(settings["remove"], check=False, stdin=subprocess.DEVNULL)

    _when_gone(alive, remove)
    return _exit_code(process.wait())


def _exit_code(code: int) -> int:
    return code if code >= 0 else 128 - code


def _when_gone(alive: int, clean_up: Callable[[], None]) -> None:
    """Clean up and end as soon as the other end of a pipe is closed."""

    def wait() -> None:
        os.read(alive, 1)
        try:
            clean_up()
        finally:
            os._exit(_KILLED)

    threading.Thread(target=wait, daemon=True).start()


def _kill_children() -> None:
    """Kill all descendants; those of a killed one become our own, so it takes several turns."""
    while True:
        children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        pids = [int(pid) for file in children for pid in file.read_text().split()]
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError, ChildProcessError):  # the library reaps some itself
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


_KINDS: dict[str, Callable[[Settings, list[str], int], int]] = {
    "sandlock": run_sandlock,
    "container": run_container,
}

if __name__ == "__main__":
    sys.exit(main())
