"""Results as they come, on disk at once: what is left if pytest itself is killed."""

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import TextIO

from pytest_mlab.results import SCHEMA, Result


class Journal:
    """One line of JSON for each result, in a file beside the document that is written at the end.

    Its name is the document's with a few letters and ``.partial``, so that two sessions never
    share one. It never raises: what went wrong with the disk is in ``error``.
    """

    def __init__(self, document: Path) -> None:
        self.path: Path | None = None
        self.error: OSError | None = None
        self._document = document.resolve()
        self._file: TextIO | None = None

    def append(self, result: Result) -> None:
        """Write a result down, so that it outlives this process."""
        if self.error is not None:
            return
        try:
            if self._file is None:
                self._file = self._open()
            self._file.write(result.to_json() + "\n")
            self._file.flush()
        except OSError as error:
            self.error = error

    def discard(self) -> None:
        """Remove the file, now that the document holds everything."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Close the file and leave it where it is."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # a full disk says so again here
                self._file.close()
            self._file = None

    def _open(self) -> TextIO:
        name = self._document.name
        handle, path = tempfile.mkstemp(".partial", f"{name}.", self._document.parent)
        self.path = Path(path)
        file = os.fdopen(handle, "w", encoding="utf-8")
        file.write(json.dumps({"schema": SCHEMA}) + "\n")
        return file
