"""Going on after an earlier session: what it has recorded, and what of it may be taken over.

A trial's result may be taken over where nothing that it depends on has changed; that is written
down as its *conditions*, before it starts. A session that resumes another has a folder of its own,
names the other in it, and leaves the other's records as they are.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from pytest_mlab import runs
from pytest_mlab.exceptions import UsageError
from pytest_mlab.files import write_atomically
from pytest_mlab.results import ERRORS, Result

FORMAT = "mlab-records/1"
SESSION = "session.json"
"""In a session's folder: the version that made it, and the session that it resumes."""
LATEST = "latest"
"""In the folder of records: the name of the session that was begun last, whatever the clocks."""
CONDITIONS = "conditions.json"
"""In a trial's folder: what its result depends on."""

Conditions = Mapping[str, str]


@dataclass(frozen=True)
class Resumption:
    """What becomes of a trial in a session that resumes another.

    Its ``result`` is taken over, or it starts, and ``note`` says why. It might go on from what
    ``folder`` holds of it.
    """

    note: str
    result: Result | None = None
    folder: Path | None = None


def begin_session(session: Path, resumed: Path | None) -> None:
    """Write down which session this is, before its first trial starts."""
    version = metadata.version("pytest-mlab")
    record = {
        "format": FORMAT,
        "version": version,
        "resumes": None if resumed is None else resumed.name,
    }
    write_atomically(session / SESSION, json.dumps(record) + "\n")
    write_atomically(session.parent / LATEST, session.name + "\n")


def find_session(results: Path) -> Path:
    """Find the session to resume: the folder itself if it is one, else the last one in it.

    `UsageError` where there is none, or where another version has recorded it.
    """
    session = results if (results / runs.PLAN).is_file() else _find_latest(results)
    _check_version(session)
    return session


def hold(session: Path, *, alone: bool = False) -> int | None:
    """Keep a session's records in use until the descriptor is closed; None where others do.

    A session holds its own, and ``alone`` the one that it resumes.
    """
    descriptor = os.open(session / SESSION, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_NB | (fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def write_conditions(folder: Path, conditions: Conditions) -> None:
    """Write down what a trial's result depends on, before the trial starts."""
    write_atomically(folder / CONDITIONS, json.dumps(conditions) + "\n")


def resume_trial(session: Path, nodeid: str, conditions: Conditions) -> Resumption:
    """Tell what becomes of a trial, from the records of a session and of those it resumed itself.

    The newest record under the same conditions counts.
    """
    notes: list[str] = []
    partial: tuple[Path, str] | None = None
    for earlier in _chain(session):
        folder = _last_folder(earlier, nodeid)
        if folder is None:
            continue
        try:
            then = _read_object(folder / CONDITIONS)
            result = _read_result(folder)
        except _Damaged as damage:
            notes.append(f"starts over: {damage}")
            continue
        if then != conditions:
            notes.append(f"starts anew: {_differences(then, conditions)}")
        elif result is None:
            partial = partial or (folder, "was interrupted")
        elif result.status in ERRORS:
            partial = partial or (folder, f"ended in {_article(result.status)}")
        else:
            return Resumption("taken over", result=_taken_over(result, earlier))
    if partial is not None:
        folder, why = partial
        return Resumption(f"starts over: it {why}", folder=folder)
    return Resumption(notes[0] if notes else "starts: it had not begun")


def has_ended(session: Path, nodeid: str) -> bool:
    """Tell whether there is a result of a trial that may be taken over, whatever its conditions."""
    for earlier in _chain(session):
        folder = _last_folder(earlier, nodeid)
        try:
            result = None if folder is None else _read_result(folder)
        except _Damaged:
            continue
        if result is not None and result.status not in ERRORS:
            return True
    return False


class _Damaged(Exception):
    """A record cannot be read; the message names it."""


def _find_latest(results: Path) -> Path:
    pointer = results / LATEST
    if pointer.is_file():
        session = results / pointer.read_text(encoding="utf-8").strip()
        if (session / runs.PLAN).is_file():
            return session
    sessions = sorted(path.parent for path in results.glob(f"*/{runs.PLAN}"))
    if not sessions:
        raise UsageError(
            f"--mlab-resume: there is no session in {results}; leave the option out, or name a "
            "session's folder or the folder of records with --mlab-results"
        )
    return sessions[-1]


def _check_version(session: Path) -> None:
    try:
        record = _read_object(session / SESSION)
    except _Damaged:
        record = {}
    then, now = record.get("version"), metadata.version("pytest-mlab")
    if record.get("format") != FORMAT or then != now:
        by = f"pytest-mlab {then}" if then else "a version of pytest-mlab that it does not name"
        raise UsageError(
            f"--mlab-resume: {session} was recorded by {by}, and this is {now}: trials of the two "
            "are not to be mixed; resume it with that version, or start anew without the option"
        )


def _chain(session: Path) -> Iterator[Path]:
    """Give a session and those that it resumed, newest first."""
    seen: set[Path] = set()
    while session not in seen and (session / runs.PLAN).is_file():
        seen.add(session)
        yield session
        try:
            name = _read_object(session / SESSION).get("resumes")
        except _Damaged:
            return
        if not name:
            return
        session = session.parent / name


def _last_folder(session: Path, nodeid: str) -> Path | None:
    """Give the folder of a trial in a session, of the last rerun where there were some."""
    first = folder = runs.trial_folder(session, nodeid)
    number = 1
    while first.with_name(f"{first.name}.{number + 1}").is_dir():
        number += 1
        folder = first.with_name(f"{first.name}.{number}")
    return folder if (folder / runs.IDENTITY).is_file() else None


def _read_object(file: Path) -> dict[str, Any]:
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise _Damaged(f"{file} is missing") from None
    except (ValueError, OSError) as error:
        raise _Damaged(f"{file} cannot be read ({error})") from None
    if not isinstance(record, dict):
        raise _Damaged(f"{file} is no JSON object")
    return record


def _read_result(folder: Path) -> Result | None:
    file = folder / runs.RESULT
    if not file.exists():
        return None
    record = _read_object(file)
    try:
        return Result.from_dict(record)
    except TypeError as error:
        raise _Damaged(f"{file} is damaged ({error})") from None


def _taken_over(result: Result, session: Path) -> Result:
    return replace(result, resumed=result.resumed or session.name)


def _differences(then: Conditions, now: Conditions) -> str:
    changed = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    shown = (f"{name} was {then.get(name, 'not known')}, is {now.get(name)}" for name in changed)
    return "; ".join(shown)


def _article(status: str) -> str:
    return f"an {status}" if status.startswith("infra") else f"a {status}"
