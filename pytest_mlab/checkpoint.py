"""Where an interrupted trial stood after its last whole step, and how it goes on from there."""

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from pygit2 import GitError

from pytest_mlab import runs
from pytest_mlab.history import Reader, drop_after, tree_of
from pytest_mlab.llm.record import FILE as LLM_RECORD
from pytest_mlab.llm.record import used_in
from pytest_mlab.results import Usage
from pytest_mlab.snapshot import FOLDER, LINK, MARK, PROGRAM, stand_in
from pytest_mlab.steps import Step, step_from
from pytest_mlab.trace import read_trace


class CannotGoOn(Exception):
    """A trial's records do not suffice to go on from; the message says what is missing."""


@dataclass(frozen=True)
class Checkpoint:
    """A trial after its last whole step: what was done, and what it has used up.

    ``usage`` counts every answer that was paid for, also those after the last step. ``seconds``
    are of the agent's turn, ``traced`` of the trace's clock.
    """

    folder: Path
    commit: str
    steps: tuple[Step, ...]
    seconds: float
    traced: float
    usage: Usage


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read where the trial recorded in a folder stood; `CannotGoOn` where it made no step."""
    trace = folder / runs.TRACE
    steps: list[Step] = []
    notes: dict[str, object] = {}
    last: dict[str, object] = {}
    for event in read_trace(trace) if trace.is_file() else ():
        if event["event"] == "note":
            notes |= {key: value for key, value in event.items() if key not in _HEAD}
        elif event["event"] == "step":
            steps.append(step_from(event, notes))
            notes, last = {}, event
    if "commit" not in last:
        raise CannotGoOn("it made no whole step")
    return Checkpoint(
        folder=folder,
        commit=str(last["commit"]),
        steps=tuple(steps),
        seconds=float(str(last["elapsed"])),
        traced=float(str(last["seconds"])),
        usage=used_in(folder / LLM_RECORD),
    )


_HEAD = ("event", "seconds")


def restore(checkpoint: Checkpoint, root: Path, folder: Path) -> None:
    """Bring a fresh workspace at ``root`` to a checkpoint, and its records into ``folder``.

    Records come up to the last whole step, and are gone on with. `CannotGoOn` where something is
    missing, such as a large file that was changed since; OSError where the disk is full.
    """
    history = checkpoint.folder / runs.HISTORY
    try:
        reader = Reader(history)
        beside = checkpoint.folder / runs.WORKSPACE
        _lay(reader, tree_of(reader, checkpoint.commit), root, beside)
        shutil.copytree(history, folder / runs.HISTORY, symlinks=True)
        drop_after(folder / runs.HISTORY, checkpoint.commit)
    except (GitError, KeyError, ValueError) as error:
        raise CannotGoOn(f"{history} is damaged ({error})") from None
    for name in (runs.RESEARCH_LOG, LLM_RECORD):
        if (checkpoint.folder / name).is_file():
            shutil.copyfile(checkpoint.folder / name, folder / name)
    if (checkpoint.folder / LLM_RECORD).is_file():
        _cut_last_line(folder / LLM_RECORD)
    if (checkpoint.folder / runs.OUTPUTS).is_dir():
        shutil.copytree(checkpoint.folder / runs.OUTPUTS, folder / runs.OUTPUTS)
    _copy_steps(checkpoint.folder / runs.TRACE, folder / runs.TRACE, len(checkpoint.steps))


def _lay(reader: Reader, tree: str, target: Path, beside: Path) -> None:
    """Make a folder hold what was recorded; large files are taken from the old workspace."""
    recorded = {os.fsdecode(name): (mode, entry) for mode, name, entry in reader.entries(tree)}
    for path in target.iterdir():
        mode = recorded.get(path.name, (b"", ""))[0]
        # what a fresh workspace links to lies where the data are now
        if mode == LINK and path.is_symlink():
            del recorded[path.name]
        elif path.is_dir() and not path.is_symlink():
            if mode != FOLDER:
                shutil.rmtree(path)
        else:
            path.unlink()
    for name, (mode, entry) in recorded.items():
        path = target / name
        if mode == FOLDER:
            path.mkdir(exist_ok=True)
            _lay(reader, entry, path, beside / name)
        elif mode == LINK:
            path.symlink_to(os.fsdecode(reader.read(entry)))
        else:
            content = reader.read(entry)
            if content.startswith(MARK):
                _copy_large(content, beside / name, path)
            else:
                path.write_bytes(content)
            path.chmod(0o755 if mode == PROGRAM else 0o644)


def _copy_large(expected: bytes, source: Path, target: Path) -> None:
    missing = CannotGoOn(f"{source} is not any more what it was at the last step")
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise missing from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or b"\nsha256 " not in expected:
            raise missing
        if stand_in(descriptor) != expected:
            raise missing
        file.seek(0)
        with target.open("wb") as copy:
            shutil.copyfileobj(file, copy)


def _cut_last_line(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: content.rfind(b"\n") + 1])


def _copy_steps(source: Path, target: Path, steps: int) -> None:
    """Copy a trace up to a step."""
    with source.open("rb") as lines, target.open("wb") as copy:
        for event, line in zip(read_trace(source), lines, strict=False):
            copy.write(line)
            steps -= event["event"] == "step"
            if not steps:
                return
