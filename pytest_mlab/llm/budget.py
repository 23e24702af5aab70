"""What a whole session may spend, shared by all its processes through one file."""

import json
import uuid
from pathlib import Path

from filelock import FileLock

from pytest_mlab.llm.errors import BudgetSpent


class Budget:
    """A ledger of what was spent and what calls under way may cost at most, in US dollars.

    Every worker opens the same ``path``. A call is booked at its highest possible price before it
    is made and corrected afterwards, so that calls of several workers at once cannot overspend
    together; what a killed worker had booked stays booked, since its provider may charge it.
    """

    def __init__(self, path: Path, limit: float) -> None:
        self.path = path
        self.limit = limit
        self._lock = FileLock(f"{path}.lock")
        self._read_to = 0
        self._entries: dict[str, float] = {}

    @property
    def spent(self) -> float:
        """What is spent or booked by all processes until now."""
        with self._lock:
            return self._sum()

    @property
    def left(self) -> float:
        """What may still be booked."""
        return max(0.0, self.limit - self.spent)

    def book(self, amount: float) -> str:
        """Book what a call may cost and give the entry's id.

        Raises `BudgetSpent` where it is more than what is left.
        """
        with self._lock:
            spent = self._sum()
            if spent + amount > self.limit:
                raise BudgetSpent(
                    f"the session's budget of ${self.limit:.2f} would not hold the next call: "
                    f"${spent:.4f} is spent, the call may cost ${amount:.4f}; raise --mlab-budget"
                )
            entry = uuid.uuid4().hex
            self._append(entry, amount)
        return entry

    def settle(self, entry: str, amount: float) -> None:
        """Correct a booking to what the call did cost."""
        with self._lock:
            self._append(entry, amount)

    def _append(self, entry: str, amount: float) -> None:
        with self.path.open("a", encoding="utf-8") as ledger:
            ledger.write(json.dumps([entry, amount]) + "\n")

    def _sum(self) -> float:
        if self.path.exists():
            with self.path.open("rb") as ledger:
                ledger.seek(self._read_to)
                lines = ledger.readlines()
                self._read_to = ledger.tell()
            self._entries |= dict(json.loads(line) for line in lines)
        return sum(self._entries.values())
