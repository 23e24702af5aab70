"""What happened in a trial, one JSON object a line, written as it happens.

Every line is handed to the system before the trial goes on: whatever kills the process, the file
is readable up to the last whole line, which is all that `read_trace` gives.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import InfraError


class Trace:
    """Appends events to a file; ``seconds`` count from the trace's start on a steady clock.

    One that is gone on with starts with the seconds that it ended with.
    """

    def __init__(self, path: Path, seconds: float = 0.0) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._start = time.monotonic() - seconds

    def append(self, event: str, **fields: Any) -> None:
        """Append an event; what is no JSON value goes in as its repr.

        `InfraError` where it cannot be written; what was begun of the line is taken back.
        """
        seconds = round(time.monotonic() - self._start, 6)
        record = {"event": event, "seconds": seconds, **fields}
        try:
            line = json.dumps(record, ensure_ascii=False, default=repr)
        except (TypeError, ValueError, RecursionError):
            # Keys that are no text, or a value that holds itself.
            shown = {key: repr(value) for key, value in record.items()}
            line = json.dumps(shown, ensure_ascii=False)
        data = (line + "\n").encode("utf-8", "backslashreplace")
        end = self._file.seek(0, os.SEEK_END)
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(end)
            raise InfraError(
                f"{self._path}: the step cannot be recorded: {error.strerror}; make room there or "
                "name another folder with --mlab-results"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_trace(path: Path) -> Iterator[dict[str, Any]]:
    """Give the events of a trace up to the first line that is not whole, as a crash leaves one."""
    with path.open("rb") as file:
        for line in file:
            try:
                event = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                event = None
            if not isinstance(event, dict):
                return
            yield event
