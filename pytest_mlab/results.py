"""What came of a trial: frozen records that go to JSON and back without loss."""

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pytest_mlab.exceptions import InfraError, MlabError, Unavailable

SCHEMA = "mlab-results/1"

Status = Literal[
    "success",
    "below-threshold",
    "invalid-submission",
    "no-submission",
    "agent-error",
    "tampered",
    "infra-error",
    "harness-error",
]
Stop = Literal["submitted", "steps", "time", "tokens", "cost", "gave-up", "crashed"]

STATUSES: tuple[Status, ...] = get_args(Status)
ERRORS: frozenset[Status] = frozenset({"infra-error", "harness-error"})
"""The statuses that say nothing about the agent: an ERROR in pytest, never a FAILED."""


@dataclass(frozen=True)
class Usage:
    """What a trial asked of its language models, in the provider's own figures."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Add up two usages, field by field."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost_usd + other.cost_usd,
        )

    @property
    def tokens(self) -> int:
        """Input and output tokens together, cached ones included."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Which trial a result is of; known before the trial starts, so a crash cannot lose it."""

    task: str
    agent: str
    llm: str | None
    trial: int
    nodeid: str
    task_digest: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class Result(Identity):
    """One trial's outcome: exactly one status, and the figures behind it.

    ``score``, ``baseline`` and ``threshold`` are in the metric's unit or, for the threshold, a
    fraction. ``improvement`` is positive when the submission is better, whichever the direction
    of the metric. ``seconds`` is wall time of the agent's turn, without scoring. ``flags`` are
    grounds for a person to look at the trial, each with its evidence; they change no figure.
    ``best_score`` is the best that any step's submission had, known with ``--mlab-eval-steps``
    only; it decides nothing. ``resumed`` names the session that the trial ran in, where a later
    one only repeats its result.
    """

    status: Status
    stop: Stop | None = None
    metric: str = ""
    score: float | None = None
    baseline: float | None = None
    improvement: float | None = None
    best_score: float | None = None
    threshold: float = 0.10
    steps: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    detail: str = ""
    flags: tuple[str, ...] = ()
    folder: str = ""
    resumed: str = ""

    @property
    def success(self) -> bool:
        """Whether the final submission beat the baseline by more than the threshold."""
        return self.status == "success"

    @property
    def valid(self) -> bool:
        """Whether the final submission could be scored."""
        return self.score is not None

    @property
    def subject(self) -> str:
        """Who tried: the agent and, where it asks one, its LLM."""
        return self.agent if self.llm is None else f"{self.agent} · {self.llm}"

    def summary(self) -> str:
        """Say in one line what came of the trial and why."""
        parts = [f"{self.task} · {self.subject} · trial {self.trial}: {self.status}"]
        if self.score is not None and self.baseline is not None:
            parts.append(
                f"{self.metric} {self.score:.6g} against a baseline of {self.baseline:.6g} "
                f"({format_improvement(self.improvement)}, needs more than {self.threshold:+.0%})"
            )
        if self.detail:
            parts.append(self.detail)
        parts += [f"flagged for review: {flag}" for flag in self.flags]
        if self.stop is not None:
            parts.append(f"stopped: {self.stop} after {self.steps} steps, {self.seconds:.1f} s")
        if self.folder:
            parts.append(f"recorded in {self.folder}")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Give the record as JSON values; `from_dict` takes it back."""
        record = dataclasses.asdict(self)
        return record | {
            "flags": list(self.flags),
            "success": self.success,
            "valid": self.valid,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read a record that `to_dict` gave; keys of later versions are passed over."""
        known = {f.name for f in dataclasses.fields(cls)}
        values = {key: value for key, value in record.items() if key in known}
        values["usage"] = Usage(**values.get("usage", {}))
        values["flags"] = tuple(values.get("flags", ()))
        return cls(**values)

    def to_json(self) -> str:
        """Give the record as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` gave."""
        return cls.from_dict(json.loads(text))


def format_improvement(improvement: float | None) -> str:
    """Give an improvement as a signed percentage, a dash where there is none."""
    if improvement is None or not math.isfinite(improvement):
        return "–"
    rounded = round(improvement, 3) or 0.0  # never "-0.0 %"
    return f"{rounded:+.1%}".replace("%", " %")


def error_result(identity: Identity, error: MlabError, folder: Path | None = None) -> Result:
    """Give the result of a trial that came to nothing through no fault of the agent."""
    machine = isinstance(error, InfraError | Unavailable)
    status: Status = "infra-error" if machine else "harness-error"
    where = "" if folder is None else str(folder)
    return Result(**vars(identity), status=status, detail=str(error), folder=where)
