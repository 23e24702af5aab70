"""Running a command, bounded in time and in bytes; its whole process group ends with it."""

import codecs
import math
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from pytest_mlab.quota import INTERVAL, Quota, Watch

Ended = Literal["exited", "timeout", "output-limit", "quota"]

MAX_BYTES = 32_000_000
KEEP_CHARS = 20_000
_CHUNK = 1 << 16

# How long to go on reading after the process group is dead. Only a process that left the group and
# still holds a pipe makes anyone wait this long.
DRAIN_SECONDS = 0.2


@dataclass(frozen=True)
class Completed:
    """What came of a command.

    `exit_code` is negative for the signal that ended it, and None where we did, at a limit.
    `excess` says what the workspace held, where it ended for that.
    """

    exit_code: int | None
    stdout: str
    stderr: str
    ended: Ended
    seconds: float
    excess: str = ""

    @property
    def was_killed(self) -> bool:
        """Whether a signal that was not ours ended it; a shell reports that as 128 and more."""
        code = self.exit_code
        return self.ended == "exited" and code is not None and (code < 0 or code > 128)

    def describe_end(self) -> str:
        """Say in a few words how it ended, for a message."""
        return self.excess or describe_end(self.ended, self.exit_code, self.seconds)


def describe_end(ended: str, exit_code: int | None, seconds: float) -> str:
    """Say in a few words how a process ended, for a message."""
    if ended == "timeout":
        return f"killed at its time limit, after {seconds:.1f} s"
    if ended == "output-limit":
        return f"killed for too much output, after {seconds:.1f} s"
    if exit_code is None:
        return "killed"
    with suppress(ValueError):
        if exit_code < 0:
            return f"killed by {signal.Signals(-exit_code).name}"
        if exit_code > 128:  # so shells and sandboxes tell of a signal
            return f"exit code {exit_code}, as of {signal.Signals(exit_code - 128).name}"
    return f"exit code {exit_code}"


class Excerpt:
    """The head and the tail of a text that comes in pieces, and how much was between them."""

    def __init__(self, keep: int = KEEP_CHARS) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._head_size = keep - keep // 2
        self._tail_size = keep // 2
        self._head = ""
        self._tail = ""
        self._dropped = 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take the next bytes; what is not UTF-8 becomes U+FFFD."""
        text = self._decoder.decode(data, final)
        if len(self._head) < self._head_size:
            room = self._head_size - len(self._head)
            self._head += text[:room]
            text = text[room:]
        self._tail += text
        # Cut only now and then: cutting at every piece would copy the tail each time.
        if len(self._tail) > 2 * self._tail_size + _CHUNK:
            self._cut()

    def text(self) -> str:
        """Give what was kept, with the number of characters left out where some were."""
        self.feed(b"", final=True)
        self._cut()
        if not self._dropped:
            return self._head + self._tail
        return f"{self._head}\n[... {self._dropped:,} characters left out ...]\n{self._tail}"

    def _cut(self) -> None:
        extra = len(self._tail) - self._tail_size
        if extra > 0:
            self._tail = self._tail[extra:]
            self._dropped += extra


def run_command(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
    max_bytes: int = MAX_BYTES,
    keep_chars: int = KEEP_CHARS,
    log: Path | None = None,
    stdin: bytes = b"",
    pass_fds: Sequence[int] = (),
    drain_seconds: float = DRAIN_SECONDS,
    quota: Quota | None = None,
) -> Completed:
    """Run a command to its end, or to a limit: its time, the bytes it prints, what a folder holds.

    It gets a session of its own, and when this function returns or raises, by whatever exception,
    no process of its group is alive. Both streams are appended to `log` as they come, so that
    it can be followed; at most `keep_chars` characters of each are returned. Who left the group and
    holds a pipe is waited for, `drain_seconds` at most. Raises OSError where the command cannot be
    started at all.
    """
    started = time.monotonic()
    with ExitStack() as stack:
        if quota is not None:
            quota.begin()
        sink = stack.enter_context(log.open("ab", buffering=0)) if log is not None else None
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=pass_fds,
        )
        stack.callback(end_group, process)
        run = _Run(process, stdin, sink, max_bytes, keep_chars)
        stack.callback(run.close)
        watch = Watch(quota, process.pid) if quota is not None else None
        if watch is not None:
            stack.callback(watch.stop)
        ended = run.wait(started + seconds, watch)
        kill_group(process)
        run.drain(drain_seconds)
        excess = watch.stop() if watch is not None else ""
        if excess:
            ended = "quota"
        exit_code = process.wait()
    return Completed(
        exit_code if ended == "exited" else None,
        run.stdout.text(),
        run.stderr.text(),
        ended,
        time.monotonic() - started,
        excess,
    )


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill every process of a group; its leader is not reaped, so that its number stays taken."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill every process of a group and reap its leader."""
    kill_group(process)
    process.wait()


class _Run:
    """The streams of a running command."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: bytes,
        sink: IO[bytes] | None,
        max_bytes: int,
        keep_chars: int,
    ) -> None:
        self.stdout = Excerpt(keep_chars)
        self.stderr = Excerpt(keep_chars)
        self._stdin = process.stdin
        self._streams = [s for s in (process.stdin, process.stdout, process.stderr) if s]
        self._input = memoryview(stdin)
        self._sink = sink
        self._left = max_bytes
        self._alive = os.pidfd_open(process.pid)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._alive, selectors.EVENT_READ)
        for stream, excerpt in ((process.stdout, self.stdout), (process.stderr, self.stderr)):
            assert stream is not None
            self._selector.register(stream, selectors.EVENT_READ, excerpt)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE)

    def close(self) -> None:
        self._selector.close()
        os.close(self._alive)
        for stream in self._streams:
            stream.close()

    def wait(self, deadline: float, watch: Watch | None) -> Ended:
        """Pass the streams on until the command has exited or a limit is met."""
        look = time.monotonic() + INTERVAL if watch is not None else math.inf
        while True:
            now = time.monotonic()
            if now >= deadline:
                return "timeout"
            if watch is not None and now >= look:
                if watch.look():
                    return "quota"
                look = time.monotonic() + INTERVAL
            exited = self._turn(max(min(deadline, look) - now, 0))
            if self._left <= 0:
                return "output-limit"
            if exited:
                return "exited"

    def drain(self, seconds: float) -> None:
        """Read what the dead left in the pipes."""
        deadline = time.monotonic() + seconds
        self._selector.unregister(self._alive)
        while self._left > 0 and self._selector.get_map():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                break
            self._turn(remaining)

    def _turn(self, seconds: float) -> bool:
        exited = False
        for key, _ in self._selector.select(seconds):
            if key.fd == self._alive:
                exited = True
            elif isinstance(key.data, Excerpt):
                self._read(key, key.data)
            else:
                self._write(key)
        return exited

    def _read(self, key: selectors.SelectorKey, excerpt: Excerpt) -> None:
        data = os.read(key.fd, _CHUNK)[: self._left]
        if not data:
            self._selector.unregister(key.fileobj)
            return
        self._left -= len(data)
        excerpt.feed(data)
        if self._sink is not None:
            self._sink.write(data)

    def _write(self, key: selectors.SelectorKey) -> None:
        try:
            self._input = self._input[os.write(key.fd, self._input) :]
        except BrokenPipeError:
            self._input = self._input[:0]
        if not self._input:
            self._selector.unregister(key.fileobj)
            assert self._stdin is not None
            self._stdin.close()
