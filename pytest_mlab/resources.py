"""What a trial takes of a machine, and what a machine has of it."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Demand:
    """Devices, memory in GB (of 2**30 bytes) and cores: what a trial takes, or what there is."""

    gpus: int = 0
    memory_gb: float = 0.0
    cpus: int = 0

    def __add__(self, other: "Demand") -> "Demand":
        """Add up two demands, kind by kind."""
        memory = round(self.memory_gb + other.memory_gb, 6)
        return Demand(self.gpus + other.gpus, memory, self.cpus + other.cpus)

    def __sub__(self, other: "Demand") -> "Demand":
        """Take one demand out of another, kind by kind; less than nothing may be left."""
        return self + Demand(-other.gpus, -other.memory_gb, -other.cpus)

    def short_of(self, free: "Demand") -> frozenset[str]:
        """Name the kinds of which more is demanded than there is."""
        return frozenset(kind for kind in KINDS if getattr(self, kind) > getattr(free, kind))

    def only(self, kinds: frozenset[str]) -> "Demand":
        """Give the part of the demand that is of some kinds."""
        return Demand(**{kind: getattr(self, kind) for kind in kinds})

    def __str__(self) -> str:
        """Say it in words."""
        said = {"gpus": "GPU(s)", "memory_gb": "GB of memory", "cpus": "core(s)"}
        parts = [f"{getattr(self, kind):g} {said[kind]}" for kind in KINDS if getattr(self, kind)]
        return ", ".join(parts) or "nothing"


KINDS = ("gpus", "memory_gb", "cpus")
NOTHING = Demand()


def measure_machine(gpus: int) -> Demand:
    """Give what there is for trials: the devices that are known already, memory and cores.

    In a container, memory is what its control group may use.
    """
    limits = [_read_number(file) for file in _memory_limits()]
    memory = min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *filter(None, limits)])
    return Demand(gpus, round(memory / 2**30, 1), count_cores())


def count_cores() -> int:
    """Give how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def _memory_limits() -> list[Path]:
    return [_CGROUPS / "memory.max", _CGROUPS / "memory" / "memory.limit_in_bytes"]


def _read_number(file: Path) -> float:
    try:
        return float(file.read_text())
    except (OSError, ValueError):  # not there, or "max"
        return math.inf
