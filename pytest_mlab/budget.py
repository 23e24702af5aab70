"""What a whole session has used of its budget, shared by all its processes through one file."""

import json
import math
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from pytest_mlab.allowance import Allowance
from pytest_mlab.exceptions import BudgetSpent

Kind = Literal["usd", "tokens", "gpu_hours", "hours"]

POLL = 0.1
"""How often a call that waits for others looks whether they are settled, in seconds."""

_UNITS: dict[Kind, str] = {"usd": "USD", "tokens": "tokens", "gpu_hours": "GPU-hours", "hours": "h"}


@dataclass(frozen=True)
class Spending:
    """How much was used, or is booked: US dollars, tokens, hours of all devices, of the session."""

    usd: float = 0.0
    tokens: float = 0
    gpu_hours: float = 0.0
    hours: float = 0.0


class Budget:
    """A ledger of what was used and what is under way, against what is allowed.

    Every worker opens the same ``path``; ``started`` is when the session began, as `time.monotonic`
    gives it: one clock for all processes of a machine, which nobody sets back. A call is booked at
    the most that it may take before it is made and corrected afterwards, so that calls of several
    workers at once cannot overspend together; one that would fit once others are settled waits for
    them. What a killed worker had booked stays booked, since its provider may charge it. Devices
    count from when a trial begins to when it ends.
    """

    def __init__(self, path: Path, allowance: Allowance, started: float) -> None:
        self.path = path
        self.allowance = allowance
        self._started = started
        self._lock = FileLock(f"{path}.lock")
        self._read_to = 0
        self._entries: dict[str, dict[str, Any]] = {}

    @property
    def spent(self) -> Spending:
        """What is used or booked by all processes until now."""
        with self._lock:
            return self._sum()

    def check(self, *kinds: Kind) -> None:
        """Raise `BudgetSpent` where nothing is left of one of these kinds, or of the time."""
        spent = self.spent
        for kind in (*kinds, "hours"):
            used, allowed = getattr(spent, kind), getattr(self.allowance, kind)
            if used >= allowed:
                limit = f"{_show(allowed)} {_UNITS[kind]}"
                raise BudgetSpent(f"the session's budget of {limit} is used up", limit)

    def describe(self) -> str:
        """Say how much is used of each kind that there is a limit of."""
        spent = self.spent
        return ", ".join(
            f"{_show(getattr(spent, kind))} of {_show(getattr(self.allowance, kind))} {unit}"
            for kind, unit in _UNITS.items()
            if getattr(self.allowance, kind) < math.inf
        )

    def book(self, usd: float, tokens: int, patience: float = 0.0) -> str:
        """Book what a call may take and give the entry's id.

        Raises `BudgetSpent` where it is more than what is left, and after ``patience`` seconds
        where it is less than that only once calls that are under way turn out cheaper.
        """
        asked, until = Spending(usd, tokens), time.monotonic() + patience
        while True:
            with self._lock:
                kind = self._find_lack(asked, self._sum())
                if kind is None:
                    entry = uuid.uuid4().hex
                    self._append(entry, usd=usd, tokens=tokens, open=True)
                    return entry
                hopeless = self._find_lack(asked, self._sum(settled=True)) is not None
            if hopeless or time.monotonic() >= until:
                raise self._refuse(asked, kind)
            time.sleep(POLL)

    def _find_lack(self, asked: Spending, spent: Spending) -> Kind | None:
        """Give the first kind of which more is asked than is left."""
        for kind in _UNITS:
            used, more = getattr(spent, kind), getattr(asked, kind)
            if used + more > getattr(self.allowance, kind):
                return kind
        return None

    def _refuse(self, asked: Spending, kind: Kind) -> BudgetSpent:
        used, limit = getattr(self.spent, kind), getattr(self.allowance, kind)
        named = f"{_show(limit)} {_UNITS[kind]}"
        return BudgetSpent(
            f"the session's budget of {named} does not hold the next call: {_show(used)} are used "
            f"or booked, and the call may take {_show(getattr(asked, kind))}; raise --mlab-budget",
            named,
        )

    def settle(self, entry: str, usd: float, tokens: int) -> None:
        """Correct a booking to what the call did take."""
        with self._lock:
            self._append(entry, usd=usd, tokens=tokens)

    @contextmanager
    def hold_devices(self, count: int, most_seconds: float) -> Iterator[None]:
        """Count some devices as used for as long as the context lasts.

        Where its process is killed, they count for ``most_seconds``, which no trial outlasts.
        """
        if not count:
            yield
            return
        entry, start = uuid.uuid4().hex, time.monotonic()
        with self._lock:
            self._append(entry, gpus=count, since=start, until=start + most_seconds)
        try:
            yield
        finally:
            with self._lock:
                self._append(entry, gpus=count, since=start, until=time.monotonic())

    def _append(self, entry: str, **amounts: float) -> None:
        with self.path.open("a", encoding="utf-8") as ledger:
            ledger.write(json.dumps({"entry": entry, **amounts}) + "\n")

    def _sum(self, *, settled: bool = False) -> Spending:
        """Add up all entries, or those alone that are ``settled`` (no call of theirs under way)."""
        if self.path.exists():
            with self.path.open("rb") as ledger:
                ledger.seek(self._read_to)
                lines = ledger.readlines()
                self._read_to = ledger.tell()
            records = map(json.loads, lines)
            self._entries |= {record["entry"]: record for record in records}
        now = time.monotonic()
        entries = [one for one in self._entries.values() if not (settled and "open" in one)]
        seconds = sum(
            each["gpus"] * (min(now, each["until"]) - each["since"])
            for each in entries
            if "gpus" in each
        )
        return Spending(
            usd=sum(each.get("usd", 0.0) for each in entries),
            tokens=sum(each.get("tokens", 0) for each in entries),
            gpu_hours=seconds / 3600,
            hours=(now - self._started) / 3600,
        )


def _show(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 10_000 else f"{amount:,.4g}"
