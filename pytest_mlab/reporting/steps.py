"""A trial's trace as a reader steps through it: thought, action, changes, output, score."""

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mlab.reporting.visible import make_visible, shorten_middle

MOST = 8_000
"""How many characters of a thought, an argument or an output are shown; the trace has them all."""

MOST_BYTES = 64 * 2**20
"""A longer trace is not read; nor are files compared that are longer than `MOST_COMPARED`."""

MOST_COMPARED = 200_000

CHANGES = "The changes:\n"
"""What actions write before the diff of a file that they changed."""


@dataclass(frozen=True)
class ViewedStep:
    """One step as it is shown: every text is visible, and none is long.

    ``thoughts`` and ``arguments`` are by name. ``diff`` is what the step changed in a file, as far
    as the trace can tell. ``seconds`` count from the start of the turn.
    """

    action: str
    arguments: Mapping[str, str]
    output: str
    ok: bool
    thoughts: Mapping[str, str]
    diff: str
    seconds: float
    tokens: int

    @property
    def fields(self) -> tuple[Mapping[str, str], ...]:
        """What is given by name."""
        return self.arguments, self.thoughts


@dataclass(frozen=True)
class ViewedTrace:
    """A trial's steps; ``last`` is what was noted after them, ``problem`` what is unreadable."""

    steps: tuple[ViewedStep, ...]
    last: Mapping[str, str]
    problem: str = ""

    @property
    def size(self) -> int:
        """How many characters there are to show."""
        texts = [text for step in self.steps for text in (step.output, step.diff)]
        for fields in (self.last, *(each for step in self.steps for each in step.fields)):
            texts += fields.values()
        return sum(map(len, texts))


def read_steps(trace: Path) -> ViewedTrace:
    """Read a trace for showing it; a line that cannot be read is told of and passed over."""
    events, problem = _read(trace)
    steps: list[ViewedStep] = []
    thoughts: dict[str, str] = {}
    seen: dict[str, str] = {}
    for event in events:
        kind = event.get("event")
        if kind == "note":
            fields = {name: event[name] for name in event if name not in ("event", "seconds")}
            thoughts |= _show_all(fields)
        elif kind == "step":
            steps.append(_view(event, thoughts, seen))
            thoughts = {}
        elif kind == "end" and event.get("crash"):
            thoughts["crash"] = _show(event["crash"])
    return ViewedTrace(tuple(steps), thoughts, problem)


def _read(trace: Path) -> tuple[list[dict[str, Any]], str]:
    try:
        if (size := trace.stat().st_size) > MOST_BYTES:
            return [], f"The trace is too long to be shown here: {size / 1e6:,.0f} MB."
        lines = trace.read_bytes().split(b"\n")
    except OSError as error:
        return [], f"The trace cannot be read: {error.strerror or error}."
    events, damaged = [], []
    for number, line in enumerate(lines[:-1], 1):
        try:
            event = json.loads(line)
        except ValueError:
            damaged.append(number)
            continue
        if isinstance(event, dict):
            events.append(event)
        else:
            damaged.append(number)
    problems = (
        [f"Lines of the trace that cannot be read: {_enumerate(damaged)}."] if damaged else []
    )
    problems += ["The last line of the trace is cut off."] if lines[-1] else []
    return events, " ".join(problems)


def _view(
    event: Mapping[str, Any], thoughts: Mapping[str, str], seen: dict[str, str]
) -> ViewedStep:
    given = event.get("arguments")
    arguments = given if isinstance(given, dict) else {"": given}
    output, _, diff = str(event.get("observation", "")).partition(CHANGES)
    ok = bool(event.get("ok", True))
    action = str(event.get("action", ""))
    if not diff and ok:
        diff = _follow(action, arguments, output, seen)
    return ViewedStep(
        action=_show(action),
        arguments=_show_all(arguments),
        output=_show(output.rstrip("\n ")),
        ok=ok,
        thoughts=thoughts,
        diff=_show(diff),
        seconds=_number(event.get("seconds")),
        tokens=_count_tokens(event.get("usage")),
    )


def _follow(action: str, arguments: Mapping[str, Any], output: str, seen: dict[str, str]) -> str:
    """Remember a file as a step showed or left it; give what the step changed in it."""
    name, content = str(arguments.get("file_name", "")), str(arguments.get("content", ""))
    before = seen.get(name)
    if action == "Read File":
        seen[name] = output
    elif action == "Write File":
        seen[name] = content
        return "" if before is None else _compare(name, before, content)
    elif action == "Append File":
        seen.pop(name, None)
        return "".join(f"+{line}" for line in content.splitlines(keepends=True))
    elif action in ("Undo Edit Script", "Copy File"):
        for changed in ("script_name", "destination"):
            seen.pop(str(arguments.get(changed)), None)
    return ""


def _compare(name: str, before: str, after: str) -> str:
    if len(before) + len(after) > MOST_COMPARED:
        return ""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return "\n".join(lines)


def _show_all(values: Mapping[str, Any]) -> dict[str, str]:
    return {_show(str(name)): _show(value) for name, value in values.items()}


def _show(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return make_visible(shorten_middle(text, MOST))


def _count_tokens(usage: object) -> int:
    if not isinstance(usage, dict):
        return 0
    return int(sum(_number(usage.get(name)) for name in ("input_tokens", "output_tokens")))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def _enumerate(numbers: Iterable[int], most: int = 5) -> str:
    def shown() -> Iterator[str]:
        for place, number in enumerate(numbers):
            if place == most:
                yield "…"
                return
            yield str(number)

    return ", ".join(shown())
