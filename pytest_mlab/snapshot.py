"""What a workspace holds at one moment, as objects of git's: trees, files and links.

Whatever an agent has put there is data, and nothing in it is followed, run or obeyed. Looking costs
one `stat` a file; only what changed since the last look is read. Kept within bounds are the files
and the seconds of one look, the depth of folders, and the size of what is recorded whole.
"""

import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

MOST_BYTES = 1_000_000
"""The largest file that is recorded whole; of a larger one, size and digest are."""
MOST_HASHED = 1_000_000_000
"""The largest file whose digest is taken; of a larger one, the time of its last change is."""
MOST_FILES = 10_000
"""Files and folders that are looked at in one workspace."""
MOST_SECONDS = 5.0
"""How long one look may take."""
DEEPEST = 64
MOST_NOTES = 20

MARK = b"pytest-mlab: only the size and the digest of this file are recorded\n"
"""How a stand-in begins; an agent's file that begins so is itself recorded by a stand-in."""

_SETTLED = 20_000_000
"""Nanoseconds after which a file that changes again gets another time of change."""
_CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_RESERVED = re.compile(rb"\.git(modules)?(\.recorded)*", re.IGNORECASE)

FOLDER, FILE, PROGRAM, LINK = b"40000", b"100644", b"100755", b"120000"

Write = Callable[[bool, bytes], bytes]
"""Stores a tree (true) or a blob (false) and gives its id."""

Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Snapshot:
    """The id of the tree that was recorded; ``notes`` say what is not in it, and why."""

    tree: bytes
    notes: tuple[str, ...]


class _Entry(NamedTuple):
    mode: bytes
    id: bytes
    stamp: Stamp | None = None


@dataclass(frozen=True)
class _Folder:
    tree: bytes = b""
    entries: Mapping[str, _Entry] = field(default_factory=dict)
    folders: Mapping[str, "_Folder"] = field(default_factory=dict)


class Camera:
    """Takes snapshots of the folder ``root``, what is stored going to ``write``.

    ``whole`` names files that are recorded whole up to a size of their own.
    """

    def __init__(self, root: Path, write: Write, whole: Mapping[str, int] | None = None) -> None:
        self._root = root
        self._write = write
        self._whole = whole or {}
        self._top = _Folder()
        self._notes: list[str] = []
        self._left = 0
        self._deadline = 0.0

    def take(self) -> Snapshot:
        """Record what the folder holds now; OSError where the folder itself cannot be opened."""
        self._notes = []
        self._left = MOST_FILES
        self._deadline = time.monotonic() + MOST_SECONDS
        with _opened(self._root, None, os.O_DIRECTORY) as top:
            self._top = self._look(top, "", self._top, 0)
        hidden = len(self._notes) - MOST_NOTES
        more = [f"and {hidden:,} more"] if hidden > 0 else []
        return Snapshot(self._top.tree, (*self._notes[:MOST_NOTES], *more))

    def _look(self, folder: int, path: str, before: _Folder, depth: int) -> _Folder:
        entries: dict[str, _Entry] = {}
        folders: dict[str, _Folder] = {}
        with os.scandir(folder) as found:
            for entry in found:
                if not self._may_go_on():
                    # what was not looked at stays as it was last seen
                    entries = {**before.entries, **entries}
                    folders = {**before.folders, **folders}
                    break
                name = entry.name
                try:
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(status.st_mode):
                        below = before.folders.get(name, _Folder())
                        with _opened(name, folder, os.O_DIRECTORY) as opened:
                            if depth < DEEPEST:
                                below = self._look(opened, f"{path}{name}/", below, depth + 1)
                        if below.tree:
                            folders[name] = below
                            entries[name] = _Entry(FOLDER, below.tree)
                        else:
                            self._note("folders nested too deeply", f"{path}{name}")
                        continue
                    seen = self._see(folder, name, path, status, before.entries.get(name))
                    if seen is not None:
                        entries[name] = seen
                except FileNotFoundError:
                    continue  # it went away meanwhile
                except OSError as error:
                    self._note(error.strerror or type(error).__name__, f"{path}{name}")
        if before.tree and _same(entries, before.entries):
            return _Folder(before.tree, entries, folders)
        return _Folder(self._write(True, _tree(entries)), entries, folders)

    def _see(
        self, folder: int, name: str, path: str, status: os.stat_result, known: _Entry | None
    ) -> _Entry | None:
        stamp = _stamp(status)
        if known is not None and known.stamp == stamp:
            return known
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=folder))
            return _Entry(LINK, self._write(False, target), stamp)
        if not stat.S_ISREG(status.st_mode):
            self._note("neither file, folder nor link", f"{path}{name}")
            return None
        return self._read(folder, name, path)

    def _read(self, folder: int, name: str, path: str) -> _Entry | None:
        with _opened(name, folder) as descriptor:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                self._note("neither file, folder nor link", f"{path}{name}")
                return None
            most = self._whole.get(f"{path}{name}", MOST_BYTES)
            content = self._content(descriptor, status, most)
            after = os.fstat(descriptor)
        mode = PROGRAM if status.st_mode & stat.S_IXUSR else FILE
        settled = time.time_ns() - after.st_ctime_ns > _SETTLED
        stamp = _stamp(after) if settled and _stamp(after) == _stamp(status) else None
        return _Entry(mode, self._write(False, content), stamp)

    def _content(self, descriptor: int, status: os.stat_result, most: int) -> bytes:
        if status.st_size <= most:
            with os.fdopen(os.dup(descriptor), "rb") as file:
                content = file.read(most + 1)
            if len(content) <= most and not content.startswith(MARK):
                return content
            os.lseek(descriptor, 0, os.SEEK_SET)
        return stand_in(descriptor, lambda: time.monotonic() < self._deadline)

    def _may_go_on(self) -> bool:
        self._left -= 1
        if self._left >= 0 and time.monotonic() < self._deadline:
            return True
        why = f"over {MOST_FILES:,} files" if self._left < 0 else f"after {MOST_SECONDS:g} s"
        note = f"{why}: the rest of the workspace is shown as it was last seen"
        if note not in self._notes:
            self._notes.insert(0, note)
        return False

    def _note(self, why: str, path: str) -> None:
        self._notes.append(f"not recorded, {why}: {path!r}")


def stand_in(descriptor: int, may_go_on: Callable[[], bool] = lambda: True) -> bytes:
    """Give what is recorded in the place of a large file, read from where it is opened."""
    status = os.fstat(descriptor)
    digest: str | None = None
    if status.st_size <= MOST_HASHED:
        running = hashlib.sha256()
        with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
            while may_go_on() and (chunk := file.read(_CHUNK)):
                running.update(chunk)
            if may_go_on():
                digest = running.hexdigest()
    last = f"sha256 {digest}" if digest else f"changed {status.st_mtime_ns} (no digest taken)"
    return MARK + f"size {status.st_size}\n{last}\n".encode()


def recorded_name(name: bytes) -> bytes:
    """Give the name that a file is recorded by: git checks out no ``.git`` of an agent's."""
    return name + b".recorded" if _RESERVED.fullmatch(name) else name


def original_name(name: bytes) -> bytes:
    """Give back the name that `recorded_name` was given."""
    return name.removesuffix(b".recorded") if _RESERVED.fullmatch(name) else name


def parse_tree(tree: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Give mode, recorded name and id of each entry of a tree."""
    at = 0
    while at < len(tree):
        space, end = tree.index(b" ", at), tree.index(b"\0", at)
        yield tree[at:space], tree[space + 1 : end], tree[end + 1 : end + 21]
        at = end + 21


def _tree(entries: Mapping[str, _Entry]) -> bytes:
    named = ((recorded_name(os.fsencode(name)), entry) for name, entry in entries.items())
    # git sorts a folder as if its name ended in a slash
    ordered = sorted(named, key=lambda pair: pair[0] + b"/" * (pair[1].mode == FOLDER))
    return b"".join(entry.mode + b" " + name + b"\0" + entry.id for name, entry in ordered)


def _same(now: Mapping[str, _Entry], before: Mapping[str, _Entry]) -> bool:
    return now.keys() == before.keys() and all(
        now[name][:2] == entry[:2] for name, entry in before.items()
    )


def _stamp(status: os.stat_result) -> Stamp:
    return (
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_mode,
    )


@contextmanager
def _opened(path: str | Path, folder: int | None, flags: int = 0) -> Iterator[int]:
    descriptor = os.open(path, _OPEN | flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
