"""What preparing leaves for scoring, in the private data.

env/, scripts/     the folder as it is after its prepare.py
reference/         the submission of the unmodified starter, where it was measured
record.json        a `Record`
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

_FILE = "record.json"
REFERENCE = "reference"


@dataclass(frozen=True)
class Record:
    """The submission's name and, where the starter was measured, the scores of its runs."""

    submission: str
    scores: tuple[float, ...] = ()

    def write(self, private: Path) -> None:
        """Write it down."""
        (private / _FILE).write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, private: Path) -> "Record":
        """Read it again."""
        values = json.loads((private / _FILE).read_text(encoding="utf-8"))
        return cls(values["submission"], tuple(values["scores"]))
