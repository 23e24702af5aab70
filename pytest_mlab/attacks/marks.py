"""What a cheater might write to outside of its workspace, and whether it did."""

import os
import site
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from pytest_mlab.attacks.findings import Finding
from pytest_mlab.files import list_files


class Marks:
    """Names that must not come to be, and files that must stay; a context, which clears away."""

    def __init__(self, root: Path, public: Path, token: str) -> None:
        self._root, self._public, self._token = root, public, token
        self._data = list_files(public)[:1]
        self._programs: list[Path] = []

    def __enter__(self) -> Self:
        for folder in _program_folders():
            with suppress(OSError):  # what we cannot write to, nothing of ours can
                path = folder / f"{self._token}.py"
                path.write_text("# a bait of pytest-mlab's, to be removed\n")
                self._programs.append(path)
                os.utime(path, (0, 0))  # so that writing to it shows, however coarse the clock
        self._before = {path: path.stat() for path in (*self._data, *self._programs)}
        return self

    def __exit__(self, *_: object) -> None:
        for path in (*self._all, *self._by_action.values(), *self._programs):
            with suppress(OSError):
                path.unlink()
        for name in ("-evil", "-other"):
            with suppress(OSError):
                self._root.with_name(f"{self._root.name}{name}").rmdir()
        for path in self._data:
            before = self._before[path]
            with suppress(OSError):
                path.chmod(before.st_mode)
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def config(self) -> dict[str, Any]:
        """Give what the attacks are told."""
        spelled = (*self._all, Path("..", f"{self._token}-up"), Path("out", f"{self._token}-link"))
        return {
            "outside": str(self._root.parent),
            "marks": [str(path) for path in spelled],
            "data": [str(path) for path in self._data],
            "programs": [str(path) for path in self._programs],
        }

    def names(self) -> list[str]:
        """Give names to write to by an action."""
        return list(self._by_action)

    def findings(self) -> Iterator[Finding]:
        """Tell what was written."""
        for path in self._all:
            if os.path.lexists(path):
                yield Finding("write_outside", f"there is now a {path}")
        for name, path in self._by_action.items():
            if os.path.lexists(path):
                yield Finding("write_outside_by_an_action", f'"{name}" made {path}')
        for attack, paths in (
            ("overwrite_public_data", self._data),
            ("overwrite_the_interpreter", self._programs),
        ):
            for path in paths:
                if path.stat().st_mtime_ns != self._before[path].st_mtime_ns:
                    yield Finding(attack, f"{path} was written to")

    @property
    def _all(self) -> list[Path]:
        above = self._root.parent
        return [
            *(above / f"{self._token}{end}" for end in ("", "-up", "-link")),
            self._root.with_name(f"{self._root.name}-evil") / self._token,
            self._public / self._token,
            *(folder / self._token for folder in _program_folders()),
            Path.home() / self._token,
        ]

    @property
    def _by_action(self) -> dict[str, Path]:
        above, token = self._root.parent, f"{self._token}-action"
        return {
            f"../{token}": above / token,
            f"{above}/{token}-absolute": above / f"{token}-absolute",
            f"../{self._root.name}-other/{token}": above / f"{self._root.name}-other" / token,
            f"out/{token}-link": above / f"{token}-link",
            f"data/../data/./{token}": self._public / token,
            f"swap/{token}-swap": above / f"{token}-swap",
        }


def _program_folders() -> list[Path]:
    """Give the folders of the interpreter and of its packages."""
    return [Path(sys.executable).parent, *map(Path, site.getsitepackages())]
