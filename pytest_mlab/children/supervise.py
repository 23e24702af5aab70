"""Running a command where killing our own process group would not reach all that it starts.

    supervise landlock SETTINGS ARGV...     ARGV is confined by Landlock
    supervise container SETTINGS ARGV...    ARGV runs a container

SETTINGS is a JSON object. This process only waits; a second one, in a session of its own, runs the
command, and when the first is gone, however it went, ends all that the command has started and
removes what was made for it.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_mlab.children.confine import (
    drop_capabilities,
    filter_calls,
    restrict_files,
    set_process,
)

Settings = dict[str, Any]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_FAILED = 125

_SECONDS_TO_MAKE = 5.0


def main() -> int:
    """Wait for the supervisor; give the command's exit code."""
    kind, settings, *argv = sys.argv[1:]
    set_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
    reading, writing = os.pipe()
    supervisor = os.fork()
    if supervisor == 0:
        os.close(writing)
        os.setsid()
        _exit_with(lambda: _KINDS[kind](json.loads(settings), argv, reading))
    os.close(reading)
    _, status = os.waitpid(supervisor, 0)
    return _exit_code(os.waitstatus_to_exitcode(status))


def run_landlock(settings: Settings, argv: list[str], alive: int) -> int:
    """Run a command confined, with a folder of its own for scratch files.

    What it leaves behind, in whatever session, becomes a child of this process.
    """
    set_process(_PR_SET_CHILD_SUBREAPER, 1)
    scratch = Path(settings["scratch"])
    scratch.mkdir(0o700)
    os.environ |= {"HOME": str(scratch), "TMPDIR": str(scratch)}
    command = os.fork()
    if command == 0:
        _exit_with(lambda: _become_confined(settings, argv))
    _when_gone(alive, lambda: os.kill(command, signal.SIGKILL))
    _, status = os.waitpid(command, 0)
    _kill_children()
    try:
        scratch.rmdir()
    except OSError:
        import shutil  # loading it takes longer than most folders take to be removed

        shutil.rmtree(scratch, ignore_errors=True)
    return _exit_code(os.waitstatus_to_exitcode(status))


def _become_confined(settings: Settings, argv: list[str]) -> int:
    set_process(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.geteuid() == 0:
        drop_capabilities()
    restrict_files(
        settings["readable"],
        [*settings["writable"], settings["scratch"]],
        settings["listable"],
        settings["devices"],
        settings["hidden"],
    )
    if settings["filter"] is not None:
        filter_calls(bytes.fromhex(settings["filter"]))
    os.execvp(argv[0], argv)


def run_container(settings: Settings, argv: list[str], alive: int) -> int:
    """Run a container; killing the program that talks to its engine would leave it running."""
    import subprocess

    def remove() -> None:
        nowhere = subprocess.DEVNULL
        subprocess.run(
            settings["remove"], check=False, stdin=nowhere, stdout=nowhere, stderr=nowhere
        )

    def end() -> None:
        # Killed while it makes one, Podman would leave a container that nobody knows of.
        deadline = time.monotonic() + _SECONDS_TO_MAKE
        while process.poll() is None and time.monotonic() < deadline:
            remove()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        remove()

    # Where an ordinary user runs it, Podman goes on in a child of its own: hence the group.
    process = subprocess.Popen(argv, process_group=0)
    finish = _when_gone(alive, end)
    code = process.wait()
    finish()
    return _exit_code(code)


def _exit_with(run: Callable[[], int]) -> None:
    """End a forked process, whatever happens in it."""
    code = _FAILED
    try:
        code = run()
    except OSError as error:
        print(error, file=sys.stderr)
    finally:
        os._exit(code)


def _exit_code(code: int) -> int:
    """Tell of a signal as shells do."""
    return code if code >= 0 else 128 - code


def _when_gone(alive: int, end: Callable[[], None]) -> Callable[[], None]:
    """End the command as soon as the other end of a pipe is closed.

    What is returned waits until that is done, if it has begun.
    """
    gone = threading.Event()

    def wait() -> None:
        os.read(alive, 1)
        gone.set()
        end()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return lambda: thread.join() if gone.is_set() else None


def _kill_children() -> None:
    """Kill all descendants; those of a killed one become our own, so it takes several turns."""
    while True:
        children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        pids = [int(pid) for file in children for pid in file.read_text().split()]
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


_KINDS: dict[str, Callable[[Settings, list[str], int], int]] = {
    "landlock": run_landlock,
    "container": run_container,
}
