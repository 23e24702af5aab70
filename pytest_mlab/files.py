"""Files: written so that they are whole or not there, listed, and told apart."""

import hashlib
import os
import tempfile
from pathlib import Path


def list_files(folder: Path) -> list[Path]:
    """Give all files in a folder and below it, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def hash_file(path: Path) -> str:
    """Give the sha256 of what a file holds."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write a text file beside its place and rename it there, making its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        # In JSON, what this makes of half a surrogate pair is read back as it was.
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        Path(unfinished).chmod(0o644)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink()
        raise


def write_output(path: Path, text: str) -> None:
    """Write a file of a user's own naming: atomically, but through a link, or into a device.

    A device or pipe, such as ``/dev/stdout``, is written to as it is.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
    else:
        write_atomically(path, text)
