"""Leases of a machine's devices, memory and cores between processes: all that is asked, or none.

Each claim is a file, locked by its process for as long as it lasts; what is claimed, and whether
it is held yet, is written in it. The system drops a lock when its process ends, however it ends, so
a claim that can be locked by another is of one that is gone. Whoever takes something does so under
one more lock, after reading all claims. Two sessions on one machine, of two users too, share it in
this way.
"""

import fcntl
import itertools
import json
import os
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_mlab.exceptions import Unavailable
from pytest_mlab.gpu import identify
from pytest_mlab.resources import Demand, measure_machine

_PAUSE = 0.1

_REMEDY = {
    "gpus": "run where there are more, or name them with --mlab-gpus",
    "memory_gb": "run where there is more, or let task.toml ask for less ([resources] memory_gb)",
    "cpus": "run where there are more, or let task.toml ask for less ([resources] cpus)",
}


@dataclass(frozen=True)
class Claim:
    """What one process holds or waits for.

    ``devices`` are those that it holds, or those that it may choose from while it waits. ``short``
    are the kinds that it has lacked so far.
    """

    demand: Demand
    devices: tuple[str, ...]
    held: bool = False
    short: frozenset[str] = frozenset()


@contextmanager
def lease(
    demand: Demand,
    devices: Sequence[str],
    waits: Callable[[frozenset[str]], object] = lambda short: None,
) -> Iterator[tuple[str, ...]]:
    """Wait until there is all that is demanded, hold it, and give the devices that are held.

    ``waits`` is told once, where there is anything to wait for, which kinds are lacking. Raises
    `Unavailable` where the machine has less than is demanded.
    """
    machine = measure_machine(len(devices))
    _check(demand, machine)
    names = identify(devices) if demand.gpus else {}
    with _open_claim() as own:
        claim = Claim(demand, tuple(names))
        told = False
        while not claim.held:
            with _table_lock():
                claim = settle(claim, own.read_others(), machine)
                own.write(claim)
            if claim.held:
                break
            if not told:
                waits(claim.short)
                told = True
            time.sleep(_PAUSE)
        yield tuple(names[device] for device in claim.devices)


def settle(claim: Claim, others: Sequence[Claim], machine: Demand) -> Claim:
    """Give a claim what it demands, if that is free, or else note what it lacks.

    ``others`` are those held, and those that have waited longer, the longest first.
    """
    held = [other for other in others if other.held]
    free = _free_devices(claim, held)
    room = _room(machine, held, free)
    first = next((other for other in others if not other.held), None)
    if first is not None:
        # Who has waited longest gets what it has lacked before anybody else does. Of what it never
        # lacked, others may take: devices need not stand still because memory is short.
        theirs = _free_devices(first, held)
        lacks = first.demand.short_of(_room(machine, held, theirs))
        kinds = first.short | lacks if lacks else frozenset(asdict(first.demand))
        aside = theirs[: first.demand.gpus] if "gpus" in kinds else ()
        free = tuple(device for device in free if device not in aside)
        room = _room(machine, held, free) - first.demand.only(kinds - {"gpus"})
    short = claim.demand.short_of(room)
    if short:
        return Claim(claim.demand, claim.devices, short=claim.short | short)
    return Claim(claim.demand, free[: claim.demand.gpus], held=True)


def _free_devices(claim: Claim, held: Sequence[Claim]) -> tuple[str, ...]:
    taken = set(itertools.chain.from_iterable(other.devices for other in held))
    return tuple(device for device in claim.devices if device not in taken)


def _room(machine: Demand, held: Sequence[Claim], free: Sequence[str]) -> Demand:
    room = machine
    for other in held:
        room -= other.demand
    return Demand(len(free), room.memory_gb, room.cpus)


def _check(demand: Demand, machine: Demand) -> None:
    for kind in sorted(demand.short_of(machine)):
        part, there = demand.only(frozenset({kind})), getattr(machine, kind)
        raise Unavailable(f"needs {part}, and there are {there:g}; {_REMEDY[kind]}")


class _File:
    """The file of a claim, locked as long as it is open."""

    def __init__(self, folder: Path) -> None:
        # Names sort by the time since the machine started, which is the same for all processes.
        self._path = folder / f"{time.monotonic_ns():020}-{uuid.uuid4().hex[:8]}.json"
        self._file = self._path.open("x", encoding="utf-8")
        self._path.chmod(0o644)  # other users' sessions read it
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def write(self, claim: Claim) -> None:
        """Write down what is claimed."""
        record = asdict(claim) | {"short": sorted(claim.short)}
        self._file.seek(0)
        self._file.truncate()
        self._file.write(json.dumps(record))
        self._file.flush()

    def read_others(self) -> list[Claim]:
        """Read those held, and of those that wait the ones that came before; remove dead ones."""
        claims = []
        for path in sorted(self._path.parent.glob("*.json")):
            claim = None if path == self._path else _read_claim(path)
            if claim is not None and (claim.held or path < self._path):
                claims.append(claim)
        return claims

    def close(self) -> None:
        """Give back what was claimed."""
        self._path.unlink(missing_ok=True)
        self._file.close()


def _read_claim(path: Path) -> Claim | None:
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                record = json.load(file)
                demand = Demand(**record["demand"])
                devices, short = tuple(record["devices"]), frozenset(record["short"])
                return Claim(demand, devices, record["held"], short)
            path.unlink()
    except (FileNotFoundError, ValueError):  # given back just now, or not written to yet
        pass
    return None


@contextmanager
def _open_claim() -> Iterator[_File]:
    with _table_lock() as folder:
        own = _File(folder)
    try:
        yield own
    finally:
        own.close()


@contextmanager
def _table_lock() -> Iterator[Path]:
    shared = os.environ.get("MLAB_LEASES")
    folder = Path(shared) if shared else Path(tempfile.gettempdir()) / "pytest-mlab-leases"
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "lock"
    with os.fdopen(os.open(table, os.O_RDWR | os.O_CREAT, 0o666), "w") as file:
        for path, mode in ((folder, 0o777), (table, 0o666)):
            with suppress(PermissionError):
                path.chmod(mode)  # other users' sessions share the machine
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder
