"""Which folders are tasks, and which of them were asked for.

Loaded by every session of pytest, whether it has tasks or not: imports next to nothing.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_mlab.conventions import FILE
from pytest_mlab.exceptions import UsageError
from pytest_mlab.mlagentbench import PROBLEM, is_mlagentbench
from pytest_mlab.options import OPTIONS, locate, look_up

_PACKAGE = Path(__file__).parent
BUNDLED = _PACKAGE / "tasks" if (_PACKAGE / "tasks").is_dir() else _PACKAGE.parent / "tasks"
"""The tasks that come with the package: within it when installed, beside it in a checkout."""

_FORMAT_LINE = rb'(?m)^\s*format\s*=\s*["\']mlab/'  # compiled when first needed


def is_task(folder: Path) -> bool:
    """Tell whether a folder is a task, of ours or in the original's format."""
    return task_file(folder) is not None


def task_file(folder: Path) -> Path | None:
    """Give the file that makes a folder a task, and that its tests are named after.

    That is a ``task.toml`` of our format, whatever else is wrong with it, or the research problem
    of the original's. Other tools name files ``task.toml`` too, hence the look inside.
    """
    try:
        if re.search(_FORMAT_LINE, (folder / FILE).read_bytes()) is not None:
            return folder / FILE
    except OSError:
        pass
    return folder / PROBLEM if is_mlagentbench(folder) else None


def find_tasks(folder: Path) -> list[Path]:
    """List the tasks that lie side by side in a folder."""
    return [path for path in sorted(folder.iterdir()) if is_task(path)]


def is_task_or_holds_some(path: Path) -> bool:
    """Tell whether a path argument names a task, or a folder in which tasks lie side by side."""
    try:
        if path.is_file():
            return path in map(task_file, path.parents[:2])
        return is_task(path) or any(map(is_task, path.iterdir()))
    except OSError:  # no such path, no permission: pytest will say so
        return False


class Selection:
    """What a session collects: by an option, by the ini file or by its path arguments.

    ``arguments`` are the path arguments that pytest shall have. ``asked`` tells whether tasks are
    among what is collected, as far as that can be known before collection.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._by_option = any(config.getoption(option.name) for option in OPTIONS)
        self._folders = [_locate(config, folder) for folder in look_up(config, "mlab_tasks")]
        base = config.invocation_params.dir
        asked: list[Path] = []
        if config.args_source is pytest.Config.ArgsSource.ARGS:
            self.arguments = [_find_bundled(base, argument) for argument in config.args]
        elif self._by_option:
            self.arguments = [str(folder) for folder in self.task_folders]
        else:
            asked = self._folders
            # pytest 8.2 loses what one argument holds where another names a part of it.
            places = _find_places(base, config.args)
            apart = [folder for folder in asked if places.isdisjoint((folder, *folder.parents))]
            self.arguments = config.args + [str(folder) for folder in apart]
        named = {*_find_places(base, self.arguments), *asked}
        self._roots = {path for path in named if is_task_or_holds_some(path)}
        self.asked = self._by_option or bool(self._roots)

    @property
    def task_folders(self) -> list[Path]:
        """The folders in which tasks are looked for by name."""
        return self._folders or [BUNDLED]

    def asks_for(self, folder: Path) -> bool:
        """Tell whether a folder is to be collected as a task if it is one."""
        if self._by_option:
            return True
        return not self._roots.isdisjoint((folder, folder.parent, folder / FILE, folder / PROBLEM))


def _find_places(base: Path, arguments: Sequence[str]) -> set[Path]:
    """Give the files and folders that path arguments name."""
    return {Path(os.path.normpath(base / text.partition("::")[0])) for text in arguments}


def _locate(config: pytest.Config, folder: str) -> Path:
    path = locate(config, "mlab_tasks", folder)
    if not path.is_dir():
        raise UsageError(f"--mlab-tasks (ini: mlab_tasks): there is no folder {path}")
    return path


def _find_bundled(base: Path, argument: str) -> str:
    """Let ``tasks/digits`` name the bundled task where there is no such path."""
    path, separator, rest = argument.partition("::")
    parts = Path(os.path.normpath(path)).parts
    if parts[:1] != (BUNDLED.name,) or os.path.lexists(base / path):
        return argument
    bundled = BUNDLED.parent.joinpath(*parts)
    if bundled.exists():
        return f"{bundled}{separator}{rest}"
    if (base / BUNDLED.name).exists():
        return argument
    names = ", ".join(f"{BUNDLED.name}/{task.name}" for task in find_tasks(BUNDLED))
    raise UsageError(f"there is no {path}, here or among the bundled tasks: {names}")


SELECTION = pytest.StashKey[Selection]()
