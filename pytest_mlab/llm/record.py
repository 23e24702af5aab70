"""What a trial asked its LLMs and what they answered: one line of ``llm.jsonl`` a call."""

import json
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import InfraError, LimitReached
from pytest_mlab.llm.catalog import Spec
from pytest_mlab.llm.messages import Reply, Request
from pytest_mlab.llm.secrets import scrub
from pytest_mlab.results import Usage

FILE = "llm.jsonl"
FORMAT = "mlab-llm/1"


class Record:
    """Writes a trial's calls as they happen, so that a crash loses none; keys are scrubbed.

    The first line says whose calls they are, for `pytest_mlab.llm.replay` to find them.
    """

    def __init__(self, path: Path, *, task: str, agent: str, llm: str, trial: int) -> None:
        self.path = path
        self._calls = max(0, len(path.read_bytes().splitlines()) - 1) if path.exists() else 0
        if self._calls:
            return
        path.write_text("", encoding="utf-8")
        self._append({"format": FORMAT, "task": task, "agent": agent, "llm": llm, "trial": trial})

    def write(self, role: str, spec: Spec, request: Request, answer: Reply | BaseException) -> None:
        """Append one call and the reply or the error that came of it; they are numbered from 1."""
        self._calls += 1
        outcome = (
            {"reply": answer.to_dict()}
            if isinstance(answer, Reply)
            else {"error": describe(answer)}
        )
        line = {"call": self._calls, "role": role, "llm": spec.name, "request": request.to_dict()}
        self._append(line | outcome)

    def _append(self, line: dict[str, Any]) -> None:
        text = scrub(json.dumps(line, ensure_ascii=False))
        # A broken file that an agent read may hold lone surrogates: JSON has an escape for them.
        try:
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text + "\n")
        except OSError as error:
            raise InfraError(
                f"{self.path}: the call cannot be recorded: {error.strerror}; make room there or "
                "name another folder with --mlab-results"
            ) from error


def used_in(path: Path) -> Usage:
    """Sum up what the calls of a record have used; nothing where there is no record."""
    usage = Usage()
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except ValueError:
            break  # cut off by a crash
        usage += Usage(**record.get("reply", {}).get("usage", {}))
    return usage


def describe(error: BaseException) -> dict[str, str]:
    """Give an error as JSON values."""
    limit = {"limit": error.limit} if isinstance(error, LimitReached) else {}
    return {"type": type(error).__name__, "message": str(error), **limit}
