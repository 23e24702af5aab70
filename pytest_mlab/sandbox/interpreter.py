"""Where the Python that runs us and its packages lie, so that a sandbox can show them."""

import os
import site
import sys
from functools import cache
from pathlib import Path

from pytest_mlab.sandbox.view import View

_PACKAGE = Path(__file__).resolve().parents[1]

# What a virtual environment is made of, and what tools that make one leave beside it.
_PARTS = ("bin", "lib", "lib64", "include", "share", "pyvenv.cfg")
_HARMLESS = {*_PARTS, "etc", "man", ".gitignore", ".lock", "CACHEDIR.TAG"}


@cache
def interpreter_paths() -> tuple[Path, ...]:
    """Give the folders a Python like ours reads: its own, those of its packages, a venv's base."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    found = [part for prefix in prefixes for part in _needed_parts(Path(prefix))]
    found += map(Path, site.getsitepackages())
    if site.ENABLE_USER_SITE:
        found.append(Path(site.getusersitepackages()))
    both = {path for given in found if given.exists() for path in (given, given.resolve())}
    return tuple(sorted(path for path in both if not both & set(path.parents)))


def _needed_parts(prefix: Path) -> list[Path]:
    """Leave out the rest of a project or of a home folder in which someone made an environment."""
    if (prefix / "pyvenv.cfg").exists():
        is_mixed = any(path.name not in _HARMLESS for path in prefix.iterdir())
    else:
        is_mixed = Path.home().is_relative_to(prefix)
    return [prefix / part for part in _PARTS] if is_mixed else [prefix]


@cache
def interpreter_links() -> tuple[Path, ...]:
    """Give the symbolic links by which a venv's Python leads to the real one."""
    links: list[Path] = []
    path = Path(sys.executable)
    while path.is_symlink() and len(links) < 40:
        links.append(path)
        path = Path(os.path.normpath(path.parent / path.readlink()))
    return tuple(links)


def hidden_paths(view: View) -> list[Path]:
    """Give what must not be seen although it lies in what is, under each name that leads to it.

    That is what the view conceals, and this package, its tasks above all: they have their scorers
    and solutions with them. A scorer is shown the package, never the tasks.
    """
    seen = frozenset({Path("/usr"), *interpreter_paths(), *view.readable})
    return list(_names_within(seen, frozenset({*_installed(), *view.concealed})))


@cache
def _names_within(seen: frozenset[Path], wanted: frozenset[Path]) -> tuple[Path, ...]:
    """Give the names by which files can be reached below what is seen.

    There may be several: a virtual environment's ``lib64`` is its ``lib``.
    """
    real = {path.resolve() for path in wanted}
    names = {
        root / path.relative_to(target)
        for root in seen
        for target in [root.resolve()]
        for path in real
        if target in path.parents
    }
    return tuple(sorted(names - seen))


@cache
def _installed() -> tuple[Path, ...]:
    return tuple(path for path in (_PACKAGE, _PACKAGE / "tasks") if path.exists())
