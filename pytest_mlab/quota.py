"""Holding a folder to a size, and to a number of files, while programs write into it.

Few file systems keep quotas of folders, and where they do, only root may set them. So the folder is
looked at while a program runs: first how much room is left on its file system, which costs next to
nothing, and only where more of it has gone than the folder may still grow by, its files.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 0.2
"""Seconds between two looks."""

# Others may free as much room as the folder takes: so its files are looked at now and then anyway.
_AT_MOST_SECONDS = 2.0
# Looking takes at most a tenth of a core.
_PAUSES = 10

_SAY = "the workspace holds {}, more than the {} that it may; delete what is not needed"


@dataclass(frozen=True)
class Holding:
    """Bytes, and files, folders among them."""

    size: int
    files: int


@dataclass(frozen=True)
class _Look:
    held: Holding
    free: Holding
    ended: float
    took: float


class Quota:
    """What a folder may hold: GB of 2**30 bytes, and a number of files.

    What holds more already may hold less, as when files are deleted, but must not grow.
    """

    def __init__(self, folder: Path, gigabytes: float, files: int) -> None:
        self._folder = folder
        self._most = Holding(int(gigabytes * 2**30), files)
        self._lock = threading.Lock()
        self._watches: list[Watch] = []
        self._look(None)

    def __str__(self) -> str:
        return f"{self._most.size / 2**30:.3g} GB and {self._most.files:,} files"

    def begin(self) -> None:
        """Take note of what the folder holds, before a process starts that may add to it."""
        with self._lock:
            if self._may_exceed():
                self._look(None)

    def admits(self, more: Holding) -> bool:
        """Tell whether as much may be added."""
        with self._lock:
            held = self._look(None)
        return not self._excess(Holding(held.size + more.size, held.files + more.files))

    def add(self, watch: "Watch") -> None:
        """Let a watch check from now on; those before it pause until it is removed."""
        with self._lock:
            self._watches.append(watch)

    def remove(self, watch: "Watch") -> None:
        """Let a watch check no longer."""
        with self._lock:
            self._watches = [other for other in self._watches if other is not watch]

    def check(self, watch: "Watch", *, now: bool = False) -> str:
        """Say how the folder has come to exceed this, or nothing; `now` spares no effort."""
        with self._lock:
            if self._watches[-1:] != [watch]:
                return ""
            since = time.monotonic() - self._last.ended
            suspect = self._may_exceed() and (now or since > _PAUSES * self._last.took)
            if not suspect and since < max(_AT_MOST_SECONDS, _PAUSES * self._last.took):
                return ""
            before = self._last.held
            held = self._look(watch.process)
            grown = held.size > before.size or held.files > before.files
            return self._excess(held) if grown else ""

    def _excess(self, held: Holding) -> str:
        if held.size > self._most.size:
            most = self._most.size / 2**30
            return _SAY.format(f"{held.size / 2**30:.3g} GB", f"{most:.3g} GB")
        if held.files > self._most.files:
            return _SAY.format(f"{held.files:,} files", f"{self._most.files:,}")
        return ""

    def _may_exceed(self) -> bool:
        held, before, free = self._last.held, self._last.free, self._free()
        size = held.size + before.size - free.size
        return bool(self._excess(Holding(size, held.files + before.files - free.files)))

    def _look(self, process: int | None) -> Holding:
        free, started = self._free(), time.monotonic()
        held = measure_folder(self._folder)
        if process is not None:
            size = sum(_deleted_files(process, self._folder))
            held = Holding(held.size + size, held.files)
        ended = time.monotonic()
        self._last = _Look(held, free, ended, ended - started)
        return held

    def _free(self) -> Holding:
        try:
            system = os.statvfs(self._folder)
        except OSError:
            return Holding(0, 0)  # without confinement, the folder may be gone: it holds nothing
        return Holding(system.f_bfree * system.f_frsize, system.f_ffree)


class Watch:
    """Whether a folder has come to exceed its quota, as long as one process runs.

    `begin` of the quota is to be called before the process starts. Its number is what deleted files
    are found by, which take room for as long as they are open.
    """

    def __init__(self, quota: Quota, process: int) -> None:
        self.process = process
        self._quota = quota
        self._complaint = ""
        quota.add(self)

    def look(self, *, now: bool = False) -> str:
        """Say how it has, or nothing; to be asked every `INTERVAL` seconds."""
        # Looked at anew in any case: what a process writes until it is dead must not be put down to
        # whoever is watched next.
        found = self._quota.check(self, now=now)
        self._complaint = self._complaint or found
        return self._complaint

    def stop(self) -> str:
        """Look a last time, when the process is dead, and say how it has, or nothing."""
        self.look(now=True)
        self._quota.remove(self)
        return self._complaint


class Guard(Watch):
    """A watch in a thread of its own, which kills the process.

    It is to be stopped before the process is reaped, lest another of its number be killed.
    """

    def __init__(self, quota: Quota, process: int, kill: Callable[[], object]) -> None:
        super().__init__(quota, process)
        self._kill = kill
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> str:
        """End the thread, then do as any watch."""
        self._over.set()
        self._thread.join()
        return super().stop()

    def _run(self) -> None:
        while not self._over.wait(INTERVAL):
            if self.look():
                self._kill()
                return


def measure_copy(path: Path) -> Holding:
    """Give what a copy of a file or folder would hold, holes in files filled."""
    if path.is_dir():
        return measure_folder(path, lambda status: max(status.st_size, _room(status)))
    return Holding(path.stat().st_size, 1)


def _room(status: os.stat_result) -> int:
    return status.st_blocks * 512


def measure_folder(folder: Path, size_of: Callable[[os.stat_result], int] = _room) -> Holding:
    """Give what lies in a folder and below it; links are not followed.

    Files count by the room that they take on the disk, where nothing else is said.
    """
    size = files = 0
    linked: set[tuple[int, int]] = set()
    below = [os.fspath(folder)]
    while below:
        with suppress(OSError), os.scandir(below.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    files += 1
                    if stat.S_ISDIR(status.st_mode):
                        below.append(entry.path)
                    elif status.st_nlink > 1:
                        key = (status.st_dev, status.st_ino)
                        if key in linked:
                            continue
                        linked.add(key)
                    size += size_of(status)
    return Holding(size, files)


def _deleted_files(process: int, folder: Path) -> Iterator[int]:
    """Give the sizes of files that lie in no folder any more, but are open below a process."""
    try:
        device = folder.stat().st_dev
    except OSError:
        return  # without confinement, the folder may be gone
    seen = set()
    for pid in _descendants(process):
        with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat()
                    if status.st_nlink == 0 and status.st_dev == device:
                        if status.st_ino not in seen:
                            yield _room(status)
                        seen.add(status.st_ino)


def _descendants(process: int) -> Iterator[int]:
    below = [process]
    while below:
        pid = below.pop()
        yield pid
        # It may end at any moment, and so may its threads.
        with suppress(OSError):
            for file in Path(f"/proc/{pid}/task").glob("*/children"):
                with suppress(OSError):
                    below += map(int, file.read_text().split())
