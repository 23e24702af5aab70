"""Installed files that hold a task's answers, such as a library's data sets, found to be hidden."""

import glob
import site
import sys
from functools import cache
from pathlib import Path

from pytest_mlab.exceptions import TaskError
from pytest_mlab.task import Task

# A system's Python has packages of its own, which every sandbox shows with the rest of /usr.
_SYSTEM = "/usr/lib*/python3*/*-packages", "/usr/local/lib*/python3*/*-packages"


def find_concealed(task: Task) -> tuple[Path, ...]:
    """Give what ``[data] conceal`` names, in every place where packages are installed.

    What is not installed needs no hiding. Raises `TaskError` where a package is there and none of
    its files is what was named: the answers would lie open.
    """
    return tuple(sorted({path for name in task.data.conceal for path in _find(task, name)}))


def _find(task: Task, name: str) -> set[Path]:
    found = {
        Path(folder, match)
        for folder in _package_folders()
        for match in glob.glob(name, root_dir=folder, include_hidden=True)  # noqa: PTH207
    }
    package = name.partition("/")[0]
    holders = [folder for folder in _package_folders() if package and (folder / package).exists()]
    if holders and not found:
        raise TaskError(
            f'{task.folder}: [data] conceal has "{name}", of which there is nothing in '
            f"{holders[0]}; say where this version of {package} keeps the data"
        )
    return found


@cache
def _package_folders() -> tuple[Path, ...]:
    """Give the folders out of which an agent's Python, or the system's, can import."""
    given = [*site.getsitepackages(), site.getusersitepackages()]
    system = [match for pattern in _SYSTEM for match in glob.glob(pattern)]  # noqa: PTH207
    roots = {str(Path(path).resolve()) for path in (*given, *system)}
    imported = {path for path in sys.path if Path(path).name.endswith("-packages")}
    return tuple(Path(path) for path in sorted(roots | imported) if Path(path).is_dir())
