"""Comparing the run times of two pieces of code, for the ``score.py`` of a code-speed task.

Nothing that the code under test says about time is believed. Each call happens in a fresh process
that knows neither the input nor when it will come. The clock is this process's own: it starts when
the input is sent and stops when the complete output is here, and the output has to agree with the
reference's on the same input. So a patched clock, an early "done", an answer kept from an earlier
call or made in the background, and an output that lies about its shape either fail or do not help.
What a call leaves running is killed before the next one starts, or it could slow the reference.

Linux only. What the code may read or write is not confined here but by the scorer's sandbox.
"""

import contextlib
import inspect
import io
import itertools
import operator
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from pytest_mlab.arrays import Array, WrongArray, check_agreement, pack_arrays, unpack_floats
from pytest_mlab.children import call as far_side
from pytest_mlab.descendants import StillRunning, adopted_orphans, closed_memory
from pytest_mlab.exceptions import InvalidSubmission, TaskError
from pytest_mlab.process import describe_end

STARTING_SECONDS = 20.0
"""How long code may take to be imported, before it is given its input."""
REFERENCE_SECONDS = 300.0
"""How long a call of the reference may take, on however slow a machine."""
SLOWEST = 5.0
"""How many times the reference's time, in the same round, a call of the candidate may take."""

_PRINTED_BYTES = 64 * 2**20
_SHOWN_CHARACTERS = 1500
# Read once, before any candidate runs: what lies on the disk later may be the candidate's.
_FAR_SIDE = inspect.getsource(far_side)


def compare_speed(
    candidate: Path,
    reference: Path,
    *,
    function: str,
    draw: Callable[[np.random.Generator], Sequence[Array]],
    rounds: int = 11,
    rtol: float = 1e-6,
    atol: float = 1e-6,
) -> tuple[float, float]:
    """Time ``function`` of two Python files; give (candidate, reference) in seconds, lower better.

    Each round draws arguments anew (``draw`` gets a generator seeded by the operating system) and
    calls the reference, then the candidate with them. Both have to return a floating-point array,
    the candidate's of the same shape and equal as ``numpy.allclose`` has it. Raises
    `InvalidSubmission` where the candidate fails, hangs or is wrong, `TaskError` where the
    reference does.

    The reference's seconds are their median; the candidate's are that times the median over the
    rounds of its time relative to the mean of the reference's just before and just after. What else
    the machine does comes and goes, and would move two separate medians apart.
    """
    theirs = _Code(candidate.name, candidate.read_bytes(), function)
    ours = _Code(reference.name, reference.read_bytes(), function)
    candidate_seconds, reference_seconds = [], []
    for number in range(1, rounds + 1):
        arguments = pack_arrays(draw(np.random.default_rng()))
        with _blaming(TaskError, f"{reference}: {function}()"):
            answer, seconds = ours.call(arguments, REFERENCE_SECONDS)
            expected = unpack_floats(answer)
        reference_seconds.append(seconds)
        with _blaming(InvalidSubmission, f"{candidate.name}, call {number}: {function}()"):
            limit, most_bytes = max(SLOWEST * seconds, 1.0), 2 * len(answer) + 4096
            answer, seconds = theirs.call(arguments, limit, most_bytes)
            check_agreement(unpack_floats(answer, expected.shape), expected, rtol, atol)
        candidate_seconds.append(seconds)
    with _blaming(TaskError, f"{reference}: {function}()"):
        reference_seconds.append(ours.call(arguments, REFERENCE_SECONDS)[1])
    around = map(statistics.mean, itertools.pairwise(reference_seconds))
    ratios = map(operator.truediv, candidate_seconds, around)
    typical = statistics.median(reference_seconds)
    return typical * statistics.median(ratios), typical


@contextlib.contextmanager
def _blaming(fault: type[Exception], function: str) -> Iterator[None]:
    try:
        yield
    except _CallFailed as error:
        raise fault(f"{function} {error}") from None
    except WrongArray as error:
        raise fault(f"{function} gives an output that {error}") from None


class _CallFailed(Exception):
    """A call gave no output; the message continues the function's name."""


@dataclass(frozen=True)
class _Code:
    """A Python source and the function of it that is called."""

    name: str
    source: bytes
    function: str

    def call(
        self, arguments: bytes, limit: float, most_bytes: int | None = None
    ) -> tuple[bytes, float]:
        """Call the function in a fresh process; give its output as .npy bytes, and the seconds."""
        with contextlib.ExitStack() as stack:
            printed = stack.enter_context(tempfile.TemporaryFile())
            channel, far_end = socket.socketpair()
            stack.enter_context(channel)
            with far_end:
                child = stack.enter_context(_running_child(far_end, printed))
            try:
                self._send_code(channel)
                output, seconds = _time_call(channel, arguments, limit, most_bytes)
            except TimeoutError as error:
                raise _CallFailed(str(error)) from None
            except (ConnectionError, EOFError):
                output = b""
            if not output:
                raise _CallFailed(_describe_end(child, printed))
        return output, seconds

    def _send_code(self, channel: socket.socket) -> None:
        channel.settimeout(STARTING_SECONDS)
        try:
            for part in (self.name.encode(), self.function.encode(), self.source):
                _send(channel, part)
            if channel.recv(1) != far_side.READY:
                raise EOFError
        except TimeoutError:
            raise TimeoutError(
                f"could not be called: importing {self.name} takes more than "
                f"{STARTING_SECONDS:.0f} s"
            ) from None


def _send(channel: socket.socket, message: bytes) -> None:
    channel.sendall(far_side.LENGTH.pack(len(message)) + message)


def _time_call(
    channel: socket.socket, arguments: bytes, limit: float, most_bytes: int | None
) -> tuple[bytes, float]:
    received = bytearray()
    channel.settimeout(limit)
    start = time.perf_counter()
    try:
        _send(channel, arguments)
        while chunk := channel.recv(2**20):
            received += chunk
            if most_bytes is not None and len(received) > most_bytes:
                raise _CallFailed("gives an output far larger than the reference's")
            channel.settimeout(_remaining(start + limit))
    except TimeoutError:
        raise TimeoutError(f"has not given its output within {limit:.1f} s") from None
    return bytes(received), time.perf_counter() - start


def _remaining(deadline: float) -> float:
    seconds = deadline - time.perf_counter()
    if seconds <= 0:
        raise TimeoutError
    return seconds


@contextlib.contextmanager
def _running_child(far_end: socket.socket, printed: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Run the far side; afterwards nothing is left of it, nor of what it started."""
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    try:
        with folder, adopted_orphans(), closed_memory():
            child = subprocess.Popen(
                [sys.executable, "-I", "-c", _FAR_SIDE],
                stdin=far_end.fileno(),
                stdout=printed,
                stderr=printed,
                cwd=folder.name,
                start_new_session=True,
            )
            try:
                limit = (_PRINTED_BYTES, _PRINTED_BYTES)
                resource.prlimit(child.pid, resource.RLIMIT_FSIZE, limit)
                yield child
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    except StillRunning:
        raise _CallFailed("starts processes faster than they can be stopped") from None


def _describe_end(child: subprocess.Popen[bytes], printed: IO[bytes]) -> str:
    try:
        status = child.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return "closes the connection without giving an output"
    size = printed.seek(0, io.SEEK_END)
    printed.seek(max(size - 4 * _SHOWN_CHARACTERS, 0))
    text = printed.read().decode("utf-8", errors="replace").strip()[-_SHOWN_CHARACTERS:]
    end = describe_end("exited", status, 0.0)
    return f"gives no output ({end}); what it printed ends with\n{text}\n"
