"""What each step of a trial changed in the workspace, out of the trial's history."""

from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_mlab.reporting.visible import shorten_middle

if TYPE_CHECKING:
    from pytest_mlab.history import Reader

MOST = 2_000
"""How many characters of a file's changes are shown; a longer list is no help to a reader."""
MOST_BYTES = 1_000_000
"""Larger files are said to have changed, and no more."""
MOST_FILES = 12

Entry = tuple[bytes, str]
"""Mode and id of what is in a tree."""


def read_changes(history: Path) -> dict[str, str]:
    """Give what each commit changed, by its id, as a unified diff; empty without a history.

    Raises what a damaged history makes libgit2 raise: `GitError`, `KeyError`, `ValueError`.
    """
    if not history.is_dir():
        return {}
    from pytest_mlab.history import Reader, read_history

    reader = Reader(history)
    return {
        after.id: _show(reader, before.tree, after.tree)
        for before, after in pairwise(read_history(history))
    }


def _show(reader: "Reader", before: str, after: str) -> str:
    changes = _compare(reader, before, after, "")
    shown = list(islice(changes, MOST_FILES))
    if next(changes, None) is not None:
        shown.append("More files changed; they are in the history.\n")
    return "".join(shown)


def _compare(reader: "Reader", before: str, after: str, folder: str) -> Iterator[str]:
    from pytest_mlab.snapshot import FOLDER

    if before == after:
        return
    old, new = _entries(reader, before), _entries(reader, after)
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        path = f"{folder}{name.decode('utf-8', 'backslashreplace')}"
        first, second = (entry[1] if entry and entry[0] == FOLDER else "" for entry in (was, now))
        yield from _compare(reader, first, second, f"{path}/")
        was, now = (None if entry and entry[0] == FOLDER else entry for entry in (was, now))
        if was or now:
            yield _compare_files(reader, path, was, now)


def _entries(reader: "Reader", tree: str) -> dict[bytes, Entry]:
    return {name: (mode, entry) for mode, name, entry in reader.entries(tree)} if tree else {}


def _compare_files(reader: "Reader", path: str, was: Entry | None, now: Entry | None) -> str:
    from pygit2 import Patch

    old, new = (reader.read(entry[1]) if entry else b"" for entry in (was, now))
    if max(len(old), len(new)) > MOST_BYTES or b"\0" in old or b"\0" in new:
        return f"{path}: {len(old):,} bytes became {len(new):,}\n"
    patch = Patch.create_from(old, new, context_lines=2)
    hunks = (patch.data or b"").decode("utf-8", "replace").partition("@@")
    name = path if was and now else f"{path} ({'removed' if was else 'new'})"
    return f"=== {name}\n" + shorten_middle(f"{hunks[1]}{hunks[2]}", MOST).rstrip("\n") + "\n"
