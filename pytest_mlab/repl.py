"""A Python process that runs one piece of code after another and keeps their state."""

import os
import secrets
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Self

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import (
    KEEP_CHARS,
    MAX_BYTES,
    Ended,
    Excerpt,
    describe_end,
    end_group,
    kill_group,
)
from pytest_mlab.quota import Guard, Quota
from pytest_mlab.sandbox import Sandbox, View

_CHILD = Path(__file__).parent / "children" / "repl.py"
_CHUNK = 1 << 16

ReplEnd = Literal["finished", "raised"] | Ended


@dataclass(frozen=True)
class Reply:
    """What a piece of code printed, to both streams, and how it ended.

    "finished" and "raised" leave the process running; at any other end its variables are lost.
    """

    output: str
    ended: ReplEnd
    seconds: float
    exit_code: int | None = None
    excess: str = ""

    @property
    def ok(self) -> bool:
        """Whether the code ran through without an exception."""
        return self.ended == "finished"

    def text(self) -> str:
        """Give the output, and where the process is gone, what became of it."""
        if self.ended in ("finished", "raised"):
            return self.output
        how = self.excess or describe_end(self.ended, self.exit_code, self.seconds)
        gap = "\n" if self.output and not self.output.endswith("\n") else ""
        return (
            f"{self.output}{gap}[The Python process ended: {how}. Its variables are lost; "
            "the next command starts a fresh one.]\n"
        )


class Repl:
    """A Python process in a sandbox; it starts with the first command, and again after its end.

    Use it as a context manager, or call `close`. Commands are given by the thread that made it:
    a sandboxed process ends with the thread that started it. The quota is watched between commands
    too, when threads may go on.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        view: View,
        *,
        max_bytes: int = MAX_BYTES,
        keep: int = KEEP_CHARS,
        quota: Quota | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._view = view
        self._max_bytes = max_bytes
        self._keep = keep
        self._quota = quota
        self._session: _Session | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and everything it started."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def run(self, code: str, seconds: float) -> Reply:
        """Run a piece of Python; the value of a last expression is shown as Python shows it.

        Raises `InfraError` where the process cannot be started.
        """
        started = time.monotonic()
        if self._session is None:
            self._session = _Session(self._sandbox, self._view, self._quota)
        output = Excerpt(self._keep)
        ended: ReplEnd = "exited"
        try:
            ended = self._session.converse(code, output, started + seconds, self._max_bytes)
        finally:
            # Whatever interrupted us, a process in the middle of a command is of no further use.
            session = self._session
            if ended not in ("finished", "raised"):
                self.close()
        took = time.monotonic() - started
        if session.excess:
            return Reply(output.text(), "quota", took, excess=session.excess)
        if ended == "exited":
            session.require_ready()
        return Reply(output.text(), ended, took, session.exit_code if ended == "exited" else None)


class _Marked:
    """What comes before and after a mark in a stream, which is `whole` when the mark has come."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self.held = b""
        self.whole = False

    def take(self, data: bytes) -> bytes:
        """Give what is surely no part of the mark; what may be its beginning is held back."""
        if self.whole:
            return data
        before, found, after = (self.held + data).partition(self._mark)
        self.whole = bool(found)
        cut = len(before) if found else max(0, len(before) - len(self._mark) + 1)
        self.held = before[cut:]
        return before[:cut] + after


class _Session:
    """One process of a REPL, and the pipes to it."""

    def __init__(self, sandbox: Sandbox, view: View, quota: Quota | None) -> None:
        self.excess = ""
        if quota is not None:
            quota.begin()
        argv = [sys.executable, "-P", "-c", _CHILD.read_text(encoding="utf-8")]
        command = sandbox.command(argv, view)
        try:
            self._process = subprocess.Popen(
                command,
                cwd=view.writable,
                env=sandbox.environment(view),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise InfraError(f"the Python REPL could not be started: {error}") from error
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._stdin, self._stdout, self._control = stdin, stdout, stderr
        process = self._process
        self._guard = Guard(quota, process.pid, lambda: kill_group(process)) if quota else None
        self._alive = os.pidfd_open(process.pid)
        self._selector = selectors.DefaultSelector()
        for stream in (stdin, stdout, stderr):
            os.set_blocking(stream.fileno(), False)
        for readable in (self._alive, stdout, stderr):
            self._selector.register(readable, selectors.EVENT_READ)
        self._drain_seconds = sandbox.drain_seconds
        self._pending = memoryview(b"")
        self._reports = b""
        self._complaint = b""
        self._ready = False

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    def require_ready(self) -> None:
        if not self._ready:
            reason = (self._complaint + self._reports).decode(errors="replace").strip()
            raise InfraError(
                f"the Python REPL did not start (exit code {self.exit_code}): {reason}"
            )

    def close(self) -> None:
        kill_group(self._process)
        if self._guard is not None:
            self.excess = self._guard.stop()
        end_group(self._process)
        # The pipe ends with the last process of a sandbox, which may be later than the group's.
        deadline = time.monotonic() + self._drain_seconds
        self._selector.unregister(self._alive)
        if self._stdin in self._selector.get_map():
            self._selector.unregister(self._stdin)
        while self._stdout in self._selector.get_map():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                break
            self._selector.select(remaining)
            self._read(self._stdout)
            self._read(self._control)
        self._selector.close()
        os.close(self._alive)
        for stream in (self._stdin, self._stdout, self._control):
            stream.close()

    def converse(self, code: str, output: Excerpt, deadline: float, max_bytes: int) -> ReplEnd:
        source = code.encode("utf-8", "surrogatepass")
        mark = secrets.token_hex(16).encode()
        self._pending = memoryview(b"%d %s\n%s" % (len(source), mark, source))
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        printed = _Marked(mark)
        ended: ReplEnd | None = None
        while (remaining := deadline - time.monotonic()) > 0:
            ready = {key.fileobj for key, _ in self._selector.select(remaining)}
            if self._stdin in ready:
                self._write()
            if self._control in ready:
                self._reports += self._read(self._control)
            ended = ended or self._take_report()
            gone = self._alive in ready
            if gone and ended is None:
                ended = "exited"
            while max_bytes > 0 and (data := self._read(self._stdout)):
                text = printed.take(data)
                output.feed(text[:max_bytes])
                max_bytes -= len(text)
                if ended is None:
                    break
            if max_bytes <= 0:
                return "output-limit"
            if ended is not None and (printed.whole or gone):
                output.feed(printed.held)
                return ended
        output.feed(printed.held)
        return "timeout"

    def _take_report(self) -> Literal["finished", "raised"] | None:
        *lines, self._reports = self._reports.split(b"\n")
        for line in lines:
            if line == b"ready":
                self._ready = True
            elif line == b"finished":
                return "finished"
            elif line == b"raised":
                return "raised"
            else:
                self._complaint += line + b"\n"
        return None

    def _read(self, stream: IO[bytes]) -> bytes:
        try:
            data = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return b""
        if not data and stream in self._selector.get_map():
            self._selector.unregister(stream)
        return data

    def _write(self) -> None:
        try:
            self._pending = self._pending[os.write(self._stdin.fileno(), self._pending) :]
        except BrokenPipeError:
            self._pending = self._pending[:0]
        if not self._pending:
            self._selector.unregister(self._stdin)
