"""The history of a workspace: each step a commit in a bare git repository outside of it.

The repository is an ordinary one, to be read with git itself; nothing in a workspace can configure
it. Objects are stored through libgit2, which asks neither git's program nor a user's settings.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pygit2 import GitError, Odb, Oid, Repository
from pygit2.enums import ObjectType

from pytest_mlab.exceptions import InfraError
from pytest_mlab.files import write_atomically
from pytest_mlab.snapshot import FOLDER, Camera, original_name, parse_tree

BRANCH = "refs/heads/main"
MOST_TEXT = 10_000
"""Characters of an observation that a commit's message holds; the trace has it whole."""
MOST_LOOSE = 500
"""Objects from which on they are packed into one file when the history is closed."""

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tprotectNTFS = false
\tprotectHFS = false
[log]
\tmailmap = false
"""
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding !diff !merge !export-ignore\n"
"""Above whatever ``.gitattributes`` an agent wrote: they would have a reader's filters run."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Commit:
    """One recorded moment: its id, that of its tree, and its message."""

    id: str
    tree: str
    message: str


class History:
    """Records the folder ``root`` in the repository ``folder``, made or gone on with.

    ``whole`` names files that are recorded whole up to a size of their own. Raises `InfraError`
    where recording fails, which says what to do: it is never the agent's fault.
    """

    def __init__(self, folder: Path, root: Path, whole: Mapping[str, int] | None = None) -> None:
        self._folder = folder
        with self._failures_named():
            if not (folder / "HEAD").exists():
                _make_repository(folder)
            self._odb = Odb(str(folder / "objects"))
            self._last = _read_branch(folder)
            self._time = _time_of(self._odb, self._last) if self._last else 0
        self._camera = Camera(root, self._store, whole)

    def record(self, subject: str, *paragraphs: str) -> str:
        """Record what the folder holds now, with a message, and give the commit's id."""
        with self._failures_named():
            snapshot = self._camera.take()
            text = "\n\n".join(filter(None, (subject, *paragraphs, "\n".join(snapshot.notes))))
            # a clock that was set back must not put a step before the one that it follows
            self._time = max(self._time, int(time.time()))
            self._last = self._commit(snapshot.tree, clean_text(text))
            self._point_to_last()
        return self._last

    def close(self) -> None:
        """Pack what was recorded where it is much; what cannot be packed stays as it is."""
        try:
            pack(self._folder)
        except (OSError, GitError):
            return

    def _store(self, is_tree: bool, content: bytes) -> bytes:
        with self._failures_named():
            return self._odb.write(ObjectType.TREE if is_tree else ObjectType.BLOB, content).raw

    def _commit(self, tree: bytes, message: str) -> str:
        who = f"pytest-mlab <pytest-mlab> {self._time} +0000"
        parent = f"parent {self._last}\n" if self._last else ""
        head = f"tree {tree.hex()}\n{parent}author {who}\ncommitter {who}\n\n"
        return str(self._odb.write(ObjectType.COMMIT, (head + message + "\n").encode()))

    def _point_to_last(self) -> None:
        branch, line = self._folder / BRANCH, self._last + "\n"
        if not branch.exists():
            write_atomically(branch, line)
            return
        # 41 bytes over 41: whole for whoever reads, and ext4 flushes a file that is renamed over
        # another to the disk, which takes longer than all the rest
        with branch.open("r+b", buffering=0) as file:
            file.write(line.encode())

    @contextmanager
    def _failures_named(self) -> Iterator[None]:
        try:
            yield
        except (OSError, GitError) as error:
            raise InfraError(
                f"{self._folder}: the step cannot be recorded: {error}; make room there or name "
                "another folder with --mlab-results"
            ) from error


def describe_step(
    number: int, action: str, arguments: Mapping[str, Any], observation: str, ok: bool
) -> tuple[str, ...]:
    """Give the message of a step's commit: a line for lists, then all of it."""
    first = next((str(value) for value in arguments.values()), "")
    subject = " ".join(f"step {number}: {action} {first[:200]}".split())
    asked = json.dumps(arguments, ensure_ascii=False, default=repr, skipkeys=True)
    cut = len(observation) - MOST_TEXT
    rest = f"\n({cut:,} more characters are in the trace)" if cut > 0 else ""
    return (
        subject[:100],
        f"{action}: {asked[:MOST_TEXT]}",
        f"{'done' if ok else 'failed'}:\n{observation[:MOST_TEXT]}{rest}",
    )


def clean_text(text: str) -> str:
    """Give a text that git and terminals take as text: control characters by their escapes."""
    shown = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return shown.encode("utf-8", "backslashreplace").decode()


def drop_after(folder: Path, commit: str) -> None:
    """Let a history end with one of its commits."""
    write_atomically(folder / BRANCH, commit + "\n")


def read_history(folder: Path) -> list[Commit]:
    """Give the commits of a history, oldest first; none where there is no history."""
    if not (folder / "HEAD").exists():
        return []
    odb = Odb(str(folder / "objects"))
    commits = []
    last = _read_branch(folder)
    while last:
        head, _, message = odb.read(Oid(hex=last))[1].decode().partition("\n\n")
        fields = dict(line.split(" ", 1) for line in head.splitlines())
        commits.append(Commit(last, fields["tree"], message.rstrip("\n")))
        last = fields.get("parent", "")
    return commits[::-1]


class Reader:
    """Reads what a history has recorded."""

    def __init__(self, folder: Path) -> None:
        self._odb = Odb(str(folder / "objects"))

    def find(self, tree: str, path: str) -> tuple[bytes, str] | None:
        """Give mode and id of what a tree holds at a path, None where it holds nothing."""
        at = tree
        mode = FOLDER
        for part in os.fsencode(path).split(b"/"):
            if mode != FOLDER:
                return None
            entries = {original_name(n): (m, i.hex()) for m, n, i in parse_tree(self.read(at))}
            if part not in entries:
                return None
            mode, at = entries[part]
        return mode, at

    def entries(self, tree: str) -> Iterator[tuple[bytes, bytes, str]]:
        """Give mode, original name and id of each entry of a tree."""
        for mode, name, entry in parse_tree(self.read(tree)):
            yield mode, original_name(name), entry.hex()

    def read(self, object_id: str) -> bytes:
        """Give what is stored by an id."""
        return self._odb.read(Oid(hex=object_id))[1]


def tree_of(reader: Reader, commit: str) -> str:
    """Give the id of the tree that a commit records."""
    return reader.read(commit).decode().split("\n", 1)[0].removeprefix("tree ")


def pack(folder: Path) -> None:
    """Put many small objects into one file, as differences of each other."""
    loose = [path for path in (folder / "objects").glob("??/*") if path.is_file()]
    if len(loose) < MOST_LOOSE:
        return
    Repository(str(folder)).pack(n_threads=1)
    for path in loose:
        path.unlink()


def _make_repository(folder: Path) -> None:
    (folder / "objects" / "pack").mkdir(parents=True)
    (folder / "refs" / "heads").mkdir(parents=True)
    (folder / "info").mkdir()
    (folder / "info" / "attributes").write_text(_ATTRIBUTES)
    (folder / "config").write_text(_CONFIG)
    (folder / "HEAD").write_text(f"ref: {BRANCH}\n")


def _read_branch(folder: Path) -> str:
    file = folder / BRANCH
    return file.read_text().strip() if file.exists() else ""


def _time_of(odb: Odb, commit: str) -> int:
    found = re.search(rb"^committer .* (\d+) \+0000$", odb.read(Oid(hex=commit))[1], re.MULTILINE)
    return int(found[1]) if found else 0
