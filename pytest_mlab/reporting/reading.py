"""Results back from disk: documents, folders of records, and folders full of either."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_mlab import runs
from pytest_mlab.exceptions import UsageError
from pytest_mlab.gates import Verdict
from pytest_mlab.reporting.summary import Skip
from pytest_mlab.reporting.verdicts import read_verdict
from pytest_mlab.results import SCHEMA, Identity, Result

DEPTH = 3
"""How many levels of folders are searched for sessions."""


@dataclass(frozen=True)
class Session:
    """The results of one session; ``unfinished`` counts trials that were planned and have none.

    ``folder`` is where its records lie, if they are where it was read from; ``verdict`` is its
    gate's, None without one and of a session that was killed.
    """

    name: str
    results: tuple[Result, ...]
    skips: tuple[Skip, ...]
    unfinished: int
    folder: Path | None = None
    verdict: Verdict | None = None

    def find_records(self, result: Result) -> Path | None:
        """Give the folder of a trial's records, also where the session's was moved; or None.

        A session that ran elsewhere has been copied with its records, or without.
        """
        if not result.folder:
            return None
        recorded = Path(result.folder)
        places = [recorded]
        if self.folder is not None:
            ran_in = self.folder.parent / result.resumed if result.resumed else self.folder
            places.insert(0, ran_in / recorded.name)
        return next((place for place in places if (place / runs.TRACE).is_file()), None)


def read_sessions(paths: Sequence[Path]) -> list[Session]:
    """Read every session in files and folders, each once however often it is named.

    Takes documents of ``--mlab-json``, a session's folder of records (also of one that was
    killed), and folders that hold some of either. `UsageError` where there is none, or where a
    file is damaged or of another format.
    """
    sessions: dict[str, Session] = {}
    for path in paths:
        found = list(_read(path, DEPTH))
        if not found:
            raise UsageError(
                f"{path}: no results of pytest-mlab here; name a file that --mlab-json"
                " wrote, or a folder of records"
            )
        sessions |= {session.name: session for session in found}
    return [_leave_out_repeated(session, sessions) for session in sessions.values()]


def _leave_out_repeated(session: Session, sessions: Mapping[str, Session]) -> Session:
    """Give a session without results that it took over from another one that is read too."""
    own = (result for result in session.results if result.resumed not in sessions)
    return replace(session, results=tuple(own))


def _read(path: Path, depth: int) -> Iterator[Session]:
    if path.is_file():
        yield _read_document(path)
    elif (path / runs.RESULTS).is_file() and _is_document(path / runs.RESULTS):
        yield _read_document(path / runs.RESULTS)
    elif (path / runs.PLAN).is_file():
        yield _read_records(path)
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            if child.is_dir() and depth and not child.is_symlink():
                yield from _read(child, depth - 1)
            elif child.suffix == ".json" and _is_document(child):
                yield _read_document(child)
    else:
        raise UsageError(f"{path}: does not exist")


def _is_document(path: Path) -> bool:
    # its own first key says so; anything else that ends in .json is none of ours
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"mlab-results/' in file.read(100)


def _read_document(path: Path) -> Session:
    document = _parse(path)
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise UsageError(
            f"{path}: its schema is {schema!r}, and this version reads {SCHEMA!r}; make its report "
            "with the version of pytest-mlab that wrote it, or leave it out"
        )
    gate = document.get("gate")
    try:
        return Session(
            name=document["session"],
            results=tuple(map(Result.from_dict, document["results"])),
            skips=tuple(map(_read_skip, document["skipped"])),
            unfinished=len(document["not_run"]),
            folder=path.parent if path.name == runs.RESULTS else None,
            verdict=None if gate is None else read_verdict(gate),
        )
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"{path}: is damaged ({type(error).__name__}: {error}){_remedy(path)}"
        ) from None


def _read_records(folder: Path) -> Session:
    plan = _parse(folder / runs.PLAN)
    results = [
        Result.from_dict(_parse(file))
        for file in sorted(folder.glob(f"*/{runs.RESULT}"), key=lambda file: file.stat().st_mtime)
    ]
    ended = {result.nodeid for result in results}
    unfinished = sum(record["nodeid"] not in ended for record in plan)
    return Session(folder.name, tuple(results), (), unfinished, folder)


def _read_skip(record: dict[str, Any]) -> Skip:
    identity = {name: record[name] for name in Identity.__dataclass_fields__}
    return Skip(Identity(**identity), record["reason"])


def _parse(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}{_remedy(path)}") from None


def _remedy(path: Path) -> str:
    if path.name == runs.RESULTS and (path.parent / runs.PLAN).is_file():
        return "; move it away, and the records of its trials are read instead"
    return ""
