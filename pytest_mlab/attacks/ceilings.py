"""What a cheater might use too much of, and whether it got it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from pytest_mlab.attacks.findings import Finding, Report
from pytest_mlab.process import KEEP_CHARS, MAX_BYTES
from pytest_mlab.sandbox import View
from pytest_mlab.sandbox.limits import count_running_threads

PRINTER = f"""
for _ in range({MAX_BYTES // 10**6 + 8}):
    print("x" * 10**6)
"""
"""Prints more than is ever passed on, and ends all the same."""

_SPARE_PROCESSES = 200
_SPARE_BYTES = 64 * 2**20
_SPARE_CHARACTERS = 2_000
"""What an observation may have beside the two streams that were printed."""


class Ceilings:
    """Asks for a little more than the limits, of ``memory_gb`` and those of all tasks.

    How many processes there were, and that there was memory, is known by the word of the attack
    alone. A context, which removes the files that were too large.
    """

    def __init__(self, root: Path, outputs: Path, memory_gb: float) -> None:
        self._vast, self._outputs = root / "vast", outputs
        # Where the kernel counts all processes of a user, there is room for those that run already.
        self._processes = View.processes + count_running_threads() + _SPARE_PROCESSES
        self._memory = int(memory_gb * 2**30) + _SPARE_BYTES
        self._file_size = int(View.file_gb * 2**30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path in (self._vast, *self._printed()):
            path.unlink(missing_ok=True)

    def config(self) -> dict[str, Any]:
        """Give what the attacks are told."""
        return {
            "processes": self._processes,
            "memory": self._memory,
            "vast": str(self._vast),
            "file_size": self._file_size,
        }

    def findings(self, reports: Iterable[Report]) -> Iterator[Finding]:
        """Tell what there was too much of."""
        for attack, wanted, what in (
            ("multiply_without_end", self._processes, "processes at once"),
            ("ask_for_too_much_memory", self._memory, "bytes of memory"),
        ):
            for report in reports:
                if report.attack == attack and _most(report) >= wanted:
                    yield Finding(attack, f"it had {_most(report):,} {what}")
        with suppress(FileNotFoundError):
            if (size := self._vast.stat().st_size) > self._file_size:
                yield Finding("write_too_large_a_file", f"it has {size:,} bytes")

    def findings_of_output(self, *observations: str) -> Iterator[Finding]:
        """Tell whether more was passed on, or kept on the disk, than is allowed."""
        longest = max(map(len, observations))
        if longest > 2 * KEEP_CHARS + _SPARE_CHARACTERS:
            yield Finding("print_without_end", f"an observation has {longest:,} characters")
        for path in self._printed():
            if (size := path.stat().st_size) > MAX_BYTES:
                yield Finding("print_without_end", f"{path} has {size:,} bytes")

    def _printed(self) -> list[Path]:
        return [path for path in self._outputs.glob("*.txt") if path.stat().st_size >= MAX_BYTES]


def _most(report: Report) -> int:
    return max((int(found) for found in report.found if found.isdecimal()), default=0)
