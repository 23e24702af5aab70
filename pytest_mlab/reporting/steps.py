"""A trial's trace as a reader steps through it: thought, action, changes, output, score."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_mlab import runs
from pytest_mlab.curves import StepScore, read_curve
from pytest_mlab.reporting.changes import read_changes
from pytest_mlab.reporting.formats import format_number
from pytest_mlab.reporting.visible import make_visible, shorten_middle
from pytest_mlab.results import format_improvement

MOST = 8_000
"""How many characters of a thought, an argument or an output are shown; the trace has them all."""

MOST_BYTES = 64 * 2**20
"""A longer trace is not read."""


@dataclass(frozen=True)
class ViewedStep:
    """One step as it is shown: every text is visible, and none is long.

    ``thoughts`` and ``arguments`` are by name. ``diff`` is what the step changed in the
    workspace. ``seconds`` count from the start of the turn; ``score`` is of the submission that the
    step left, if that is another than the one before.
    """

    action: str
    arguments: Mapping[str, str]
    output: str
    ok: bool
    thoughts: Mapping[str, str]
    diff: str
    seconds: float
    tokens: int
    score: str = ""

    @property
    def fields(self) -> tuple[Mapping[str, str], ...]:
        """What is given by name."""
        return self.arguments, self.thoughts


@dataclass(frozen=True)
class ViewedTrace:
    """A trial's steps; ``last`` is what was noted after them, ``problem`` what is unreadable.

    ``scores`` are those along the way, where the trial ran with ``--mlab-eval-steps``.
    """

    steps: tuple[ViewedStep, ...] = ()
    last: Mapping[str, str] = field(default_factory=dict)
    scores: tuple[StepScore, ...] = ()
    problem: str = ""

    @property
    def size(self) -> int:
        """How many characters there are to show."""
        texts = [text for step in self.steps for text in (step.output, step.diff)]
        for fields in (self.last, *(each for step in self.steps for each in step.fields)):
            texts += fields.values()
        return sum(map(len, texts))


def read_steps(records: Path) -> ViewedTrace:
    """Read the trace in a trial's folder; what cannot be read is told of and passed over."""
    events, problems = _read(records / runs.TRACE)
    changes: Mapping[str, str] = {}
    try:
        changes = read_changes(records / runs.HISTORY)
    except Exception as error:  # libgit2's own, and whatever else a damaged file makes of it
        problems.append(f"The history cannot be read: {error}.")
    scores = _read_scores(records, problems)
    steps: list[ViewedStep] = []
    thoughts: dict[str, str] = {}
    for event in events:
        kind = event.get("event")
        if kind == "note":
            fields = {name: event[name] for name in event if name not in ("event", "seconds")}
            thoughts |= _show_all(fields)
        elif kind == "step":
            steps.append(_view(event, thoughts, changes))
            thoughts = {}
        elif kind == "end" and event.get("crash"):
            thoughts["crash"] = _show(event["crash"])
    for score in scores:
        if 0 < score.step <= len(steps):
            place = score.step - 1
            steps[place] = replace(steps[place], score=_show_score(score))
    return ViewedTrace(tuple(steps), thoughts, scores, " ".join(problems))


def _read(trace: Path) -> tuple[list[dict[str, Any]], list[str]]:
    try:
        if (size := trace.stat().st_size) > MOST_BYTES:
            return [], [f"The trace is too long to be shown here: {size / 1e6:,.0f} MB."]
        lines = trace.read_bytes().split(b"\n")
    except OSError as error:
        return [], [f"The trace cannot be read: {error.strerror or error}."]
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
    return events, problems


def _read_scores(records: Path, problems: list[str]) -> tuple[StepScore, ...]:
    try:
        return read_curve(records)
    except (OSError, ValueError, TypeError) as error:
        problems.append(f"The scores of the steps cannot be read: {error}.")
        return ()


def _show_score(score: StepScore) -> str:
    if score.score is None:
        return make_visible(f"submission without a score: {score.detail}")
    return f"score {format_number(score.score)} ({format_improvement(score.improvement)})"


def _view(
    event: Mapping[str, Any], thoughts: Mapping[str, str], changes: Mapping[str, str]
) -> ViewedStep:
    given = event.get("arguments")
    return ViewedStep(
        action=_show(event.get("action", "")),
        arguments=_show_all(given if isinstance(given, dict) else {"": given}),
        output=_show(event.get("observation", "")).rstrip("\n "),
        ok=bool(event.get("ok", True)),
        thoughts=thoughts,
        diff=_show(changes.get(str(event.get("commit")), "")),
        seconds=_number(event.get("seconds")),
        tokens=_count_tokens(event.get("usage")),
    )


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
