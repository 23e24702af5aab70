"""Plays back the answers of an earlier run: ``--mlab-llm=replay:DIR``."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import InfraError, LimitReached
from pytest_mlab.llm import errors
from pytest_mlab.llm.catalog import Spec
from pytest_mlab.llm.messages import Reply, Request
from pytest_mlab.llm.record import FILE, FORMAT
from pytest_mlab.llm.secrets import scrub

_VOLATILE = re.compile(
    r"""
    \b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?   # 2024-05-01 12:30:00.123
    | \b\d+:\d\d(?::\d\d)?(?:\.\d+)?\b                          # 12:30:00, 00:07
    | \b\d+(?:\.\d+)?\s?(?:[µmn]?s|it/s|s/it|secs?|seconds?|min|minutes?|h|hours?)\b
    | \b0x[0-9a-f]+\b                                           # <object at 0x7f...>
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Replay:
    """Gives the answers that were recorded for one trial, in their order.

    Each request must be the recorded one; only clock times, durations and memory addresses, which
    no two runs share, may differ. Anything else raises `ReplayDiverged`.
    """

    def __init__(self, spec: Spec, *, task: str, agent: str, trial: int) -> None:
        self.name = spec.name
        self.path = _find(Path(spec.model), task=task, agent=agent, trial=trial)
        self._calls = _read(self.path)
        self._number = 0

    def __repr__(self) -> str:
        return f"Replay({str(self.path)!r}, call {self._number})"

    def complete(self, request: Request) -> Reply:
        """Give the recorded answer, or raise the recorded error."""
        self._number += 1
        call = next(self._calls, None)
        if call is None:
            raise errors.ReplayDiverged(
                f"call {self._number} is one more than {self.path} holds; last message:\n"
                f"{_shorten(request.messages[-1].text)}"
            )
        difference = _compare(call["request"], _plain(request))
        if difference:
            raise errors.ReplayDiverged(
                f"call {self._number} ({call['role']}) is not as in {self.path}: {difference}"
            )
        if "error" in call:
            raise _revive(call["error"])
        return Reply.from_dict(call["reply"])


def _find(folder: Path, *, task: str, agent: str, trial: int) -> Path:
    """Find the one recording of a trial: this agent's if there is one, else the only other."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob(FILE)):
        head = next(_read(path, head=True), {})
        if head.get("format") == FORMAT and (head["task"], head["trial"]) == (task, trial):
            found.setdefault(head["agent"], []).append(path)
    paths = found.get(agent) or [path for others in found.values() for path in others]
    if len(paths) == 1:
        return paths[0]
    said = f"trial {trial} of {task} by {agent}"
    if not paths:
        raise errors.LLMUsageError(f"replay:{folder} holds no recording of {said}")
    listed = "\n".join(f"  replay:{path.parent}" for path in paths)
    raise errors.LLMUsageError(
        f"replay:{folder} holds {said} more than once; take one of\n{listed}"
    )


def _read(path: Path, *, head: bool = False) -> Iterator[dict[str, Any]]:
    """Read the calls of a recording, or only its first line."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            if (number == 0) == head:
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise errors.LLMUsageError(
                        f"{path}:{number + 1}: no JSON ({error}); record the trial anew"
                    ) from None
            if head:
                return


def _plain(request: Request) -> dict[str, Any]:
    """Give a request as it would have been recorded."""
    plain: dict[str, Any] = json.loads(scrub(json.dumps(request.to_dict(), ensure_ascii=False)))
    return plain


def _compare(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say where two requests first differ; empty where they do not."""
    for key in ("system", "messages", *sorted(then.keys() | now.keys())):
        old, new = then.get(key), now.get(key)
        if _steady(old) == _steady(new):
            continue
        if key != "messages":
            return f"{key} differs\n{_differ(old, new)}"
        old, new = old or [], new or []
        for number, (before, after) in enumerate(zip(old, new, strict=False), start=1):
            if _steady(before) != _steady(after):
                return f"message {number} ({after['role']}) differs\n{_differ(before, after)}"
        return (
            f"{len(old)} messages then, {len(new)} now\n{_differ(old[len(new) :], new[len(old) :])}"
        )
    return ""


def _steady(value: Any) -> str:
    """Give a JSON value as text without what no two runs share."""
    return _VOLATILE.sub("<time>", _text(value))


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and set(value) <= {"role", "text"}:
        return str(value.get("text", ""))
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _differ(old: Any, new: Any) -> str:
    """Show two values around the first place where they differ."""
    then, now = _steady(old), _steady(new)
    start = next(
        (at for at, (a, b) in enumerate(zip(then, now, strict=False)) if a != b),
        min(len(then), len(now)),
    )
    return f"  then: {_shorten(then, start)}\n  now:  {_shorten(now, start)}"


def _shorten(text: str, at: int = 0, width: int = 160) -> str:
    start = max(0, at - width // 4)
    piece = text[start : start + width]
    return repr(piece) + (" …" if len(text) > start + width else "")


def _revive(error: Mapping[str, str]) -> BaseException:
    """Make the error that was recorded."""
    if error["type"] == "LimitReached":
        return LimitReached(error["limit"])  # type: ignore[arg-type]  # as recorded
    kind = getattr(errors, error["type"], None)
    message = error["message"]
    return kind(message) if kind else InfraError(f"{error['type']}: {message}")
