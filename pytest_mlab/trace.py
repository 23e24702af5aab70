"""What happened in a trial, one JSON object a line, written as it happens.

Every line is flushed before the trial goes on: whatever kills the process, the file is readable up
to the last whole line, which is all that `read_trace` gives.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Trace:
    """Appends events to a file; ``seconds`` count from the trace's start on a steady clock."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", errors="backslashreplace")
        self._start = time.monotonic()

    def append(self, event: str, **fields: Any) -> None:
        """Append an event and flush it; what is no JSON value goes in as its repr."""
        seconds = round(time.monotonic() - self._start, 6)
        record = {"event": event, "seconds": seconds, **fields}
        try:
            line = json.dumps(record, ensure_ascii=False, default=repr)
        except (TypeError, ValueError, RecursionError):
            # Keys that are no text, or a value that holds itself.
            shown = {key: repr(value) for key, value in record.items()}
            line = json.dumps(shown, ensure_ascii=False)
        self._file.write(line + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_trace(path: Path) -> Iterator[dict[str, Any]]:
    """Give the events of a trace; a last line that was cut off is passed over."""
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)
