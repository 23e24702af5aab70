"""A fresh workspace: the files an agent may see and change, and the walls around them.

Every name an agent gives is resolved, symbolic links included, and has to end within the workspace
or, for reading, within the public data. Files are then opened component by component without
following links, so that a path swapped between check and use is refused. A file is written beside
its place and renamed into it, so that no link can carry a change elsewhere.
"""

import io
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pytest_mlab.exceptions import ActionError, TaskError
from pytest_mlab.integrity import Seal, matches, seal_workspace
from pytest_mlab.quota import Holding, measure_copy
from pytest_mlab.task import Task

MOST_BYTES = 64_000_000
"""The largest file that is read whole; an agent's script can make far larger ones."""


class Workspace:
    """One trial's files under ``root``; ``public`` is shown read-only as ``data/``.

    ``seal`` says what a fresh one held; there is none of a workspace that was not made here.
    """

    def __init__(self, root: Path, public: Path, read_only: tuple[str, ...] = ()) -> None:
        self.root = root.resolve()
        self.seal: Seal | None = None
        self.public = public.resolve()
        self._read_only = read_only
        self._undo: dict[Path, list[bytes]] = {}

    @classmethod
    def create(cls, task: Task, public: Path, root: Path) -> "Workspace":
        """Make a fresh workspace of a task at ``root``, which must not exist yet."""
        if task.data_at == ".":
            _link_files(public.resolve(), root)
        shutil.copytree(
            task.workspace,
            root,
            ignore=shutil.ignore_patterns("__pycache__"),
            copy_function=_copy_missing,
            dirs_exist_ok=task.data_at == ".",
        )
        workspace = cls(root, public, task.read_only)
        if task.data_at != "." and any(public.iterdir()):
            if os.path.lexists(root / task.data_at):
                raise TaskError(
                    f"{task.workspace / task.data_at}: is where the prepared data appear; "
                    "give it another name"
                )
            (root / task.data_at).symlink_to(public.resolve(), target_is_directory=True)
        workspace.seal = seal_workspace(task, workspace.root)
        return workspace

    def entries(self, name: str) -> list[str]:
        """List a folder's entries, folders with a slash behind them."""
        folder = self._resolve(name, writing=False)
        if not folder.is_dir():
            raise ActionError(f'"{name}" is not a folder')
        try:
            with _open_folder(self._base(folder), folder) as opened, os.scandir(opened) as entries:
                return sorted(f"{e.name}/" if _is_folder(e) else e.name for e in entries)
        except OSError as error:
            raise ActionError(f'"{name}" cannot be listed: {_reason(error)}') from error

    def read(self, name: str, most: int | None = None) -> bytes:
        """Give the first ``most`` bytes of a file, or all of one that is not very large."""
        with self._open(name) as file:
            content = file.read(MOST_BYTES + 1 if most is None else most)
        if most is None and len(content) > MOST_BYTES:
            raise ActionError(f'"{name}" is larger than {MOST_BYTES / 1e6:.0f} MB; use a script')
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file; what was there before can be had back with `undo`."""
        self._change(self._resolve(name, writing=True), name, io.BytesIO(content))

    def undo(self, name: str) -> None:
        """Take back the last `write` or `copy` to a file that was there before."""
        path = self._resolve(name, writing=True)
        if not self._undo.get(path):
            raise ActionError(f'there is no edit of "{name}" to undo')
        self._replace(path, name, io.BytesIO(self._undo[path][-1]))
        self._undo[path].pop()

    def copy(self, source: str, destination: str) -> None:
        """Copy a file or a folder within the workspace, or out of the public data."""
        origin = self._resolve(source, writing=False)
        target = self._resolve(destination, writing=True)
        if not origin.exists():
            raise ActionError(f'there is no "{source}"')
        if not origin.is_dir():
            with self._open(source) as file:
                self._change(target, destination, file)
        elif target.exists():
            raise ActionError(f'"{destination}" exists already; name a folder that does not')
        elif target.is_relative_to(origin):
            raise ActionError(f'"{destination}" lies within "{source}"')
        else:
            try:
                self._copy_folder(origin, target)
            except OSError as error:
                raise ActionError(f'"{source}" cannot be copied: {_reason(error)}') from error

    def measure(self, name: str) -> Holding:
        """Give what a copy of a file or folder would hold; nothing where there is none."""
        path = self._resolve(name, writing=False)
        return measure_copy(path) if path.exists() else Holding(0, 0)

    def exists(self, name: str) -> bool:
        """Tell whether there is something of that name."""
        return self._resolve(name, writing=False).exists()

    def path(self, name: str) -> Path:
        """Give the real path of a file that is to be run or looked at."""
        path = self._resolve(name, writing=False)
        if not path.is_file():
            raise ActionError(f'there is no file "{name}"')
        return path

    def is_read_only(self, path: Path) -> bool:
        """Tell whether a resolved path is out of bounds for writing."""
        if not path.is_relative_to(self.root):
            return True
        return matches(str(path.relative_to(self.root)), self._read_only)

    def _resolve(self, name: str, *, writing: bool) -> Path:
        if not name or "\0" in name:
            raise ActionError(f"{name!r} is not a file name")
        try:
            real = (self.root / name).resolve()
            real.exists()  # here the system refuses names, such as very long ones
        except (OSError, RuntimeError, ValueError) as error:
            raise ActionError(f'"{name}" cannot be resolved: {_reason(error)}') from error
        if not real.is_relative_to(self.root) and not real.is_relative_to(self.public):
            raise ActionError(f'"{name}" is outside the workspace')
        if writing and (real == self.root or self.is_read_only(real)):
            raise ActionError(f'"{name}" is read-only')
        return real

    def _open(self, name: str) -> BinaryIO:
        path = self._resolve(name, writing=False)
        if path.is_dir():
            raise ActionError(f'"{name}" is a folder, not a file')
        try:
            with _open_folder(self._base(path), path.parent) as parent:
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
                file = os.open(path.name, flags, dir_fd=parent)
        except OSError as error:
            raise ActionError(f'"{name}" cannot be read: {_reason(error)}') from error
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise ActionError(f'"{name}" is not a regular file')
        return os.fdopen(file, "rb")

    def _base(self, path: Path) -> Path:
        return self.root if path.is_relative_to(self.root) else self.public

    def _copy_folder(self, origin: Path, target: Path) -> None:
        """Copy files and links as they are; devices, pipes and sockets are left out."""
        with _open_folder(self._base(origin), origin) as top:
            for folder, folders, files, here in os.fwalk(".", dir_fd=top):
                with _open_folder(self.root, target / folder, create=True) as there:
                    for name in (*folders, *files):
                        _copy_entry(name, here, there)

    def _change(self, path: Path, name: str, source: BinaryIO) -> None:
        before = self.read(name) if path.is_file() else None
        self._replace(path, name, source)
        if before is not None:
            self._undo.setdefault(path, []).append(before)

    def _replace(self, path: Path, name: str, source: BinaryIO) -> None:
        try:
            with _open_folder(self.root, path.parent, create=True) as parent:
                _write_beside(parent, path.name, source)
        except OSError as error:
            raise ActionError(f'"{name}" cannot be written: {_reason(error)}') from error


def _link_files(source: Path, target: Path) -> None:
    """Make a tree of folders like ``source``, with links to its files."""
    for path, _, names in os.walk(source):
        folder = target / Path(path).relative_to(source)
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).symlink_to(Path(path, name))


def _copy_missing(source: str, target: str) -> None:
    """Copy a file to where there is none: prepared data come before the starter's files."""
    if not os.path.lexists(target):
        shutil.copy2(source, target)


@contextmanager
def _open_folder(base: Path, folder: Path, *, create: bool = False) -> Iterator[int]:
    """Open a folder below ``base`` without following a link on the way."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    descriptor = os.open(base, flags)
    try:
        for part in folder.relative_to(base).parts:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            below = os.open(part, flags, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_entry(name: str, here: int, there: int) -> None:
    mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(name, dir_fd=here), name, dir_fd=there)
    elif stat.S_ISREG(mode):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(name, flags, dir_fd=here), "rb") as source:
            _write_beside(there, name, source)


def _write_beside(parent: int, name: str, source: BinaryIO) -> None:
    try:
        mode = stat.S_IMODE(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        mode = 0o644
    unfinished = f".mlab-{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(unfinished, flags, mode, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            shutil.copyfileobj(source, file)
        os.rename(unfinished, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(unfinished, dir_fd=parent)
        raise


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
