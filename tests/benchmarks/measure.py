"""Measuring two commands or two functions side by side, within one run.

Machines are noisy: figures are medians of interleaved runs, and what is compared is their ratio or
their difference, never a time on its own.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One run of a command: wall seconds, and the peak memory of its process in MB."""

    seconds: float
    memory: float


@dataclass(frozen=True)
class Medians:
    """The medians of several runs."""

    seconds: float
    memory: float


def run_once(command: Sequence[str], cwd: Path) -> Run:
    """Run a command to its end; it must succeed or, as pytest does, find no tests.

    Bytecode is cached as on a user's machine, whatever the environment says.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 5):
            output.seek(0)
            sys.exit(f"{' '.join(command)} failed:\n{output.read().decode()}")
    return Run(seconds, usage.ru_maxrss / 1024)


def compare(
    ours: Sequence[str], theirs: Sequence[str], ours_cwd: Path, theirs_cwd: Path, runs: int
) -> tuple[Medians, Medians]:
    """Run two commands in turn, after a warm-up of each, and give the medians of both."""
    run_once(ours, ours_cwd)
    run_once(theirs, theirs_cwd)
    pairs = [(run_once(ours, ours_cwd), run_once(theirs, theirs_cwd)) for _ in range(runs)]
    first, second = zip(*pairs, strict=True)
    return _medians(first), _medians(second)


def _medians(runs: Sequence[Run]) -> Medians:
    return Medians(
        statistics.median(run.seconds for run in runs),
        statistics.median(run.memory for run in runs),
    )


def time_calls(function: Callable[[], object], times: int) -> list[float]:
    """Give the seconds that each of several calls took."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return seconds


def report(what: str, figure: float, unit: str, target: float) -> None:
    """Print a figure beside its target."""
    verdict = "met" if figure <= target else "MISSED"
    print(f"{what}: {figure:.3g} {unit} (target: at most {target:g} {unit}, {verdict})")
