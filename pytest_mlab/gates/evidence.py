"""What a gate judges, and what its judgement is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_mlab.comparison import Counts
from pytest_mlab.statistics import CONFIDENCE

Decision = Literal["pass", "fail", "undecided"]

ERROR = 1 - CONFIDENCE
"""How often a comparison may fail that is no worse; half of it is each side's of a rate."""


@dataclass(frozen=True)
class Evidence:
    """What some trials came to; nobody knows what the ``unknown`` ones would have come to."""

    successes: int = 0
    misses: int = 0
    unknown: int = 0

    def __add__(self, other: "Evidence") -> "Evidence":
        """Put trials together."""
        return Evidence(
            self.successes + other.successes,
            self.misses + other.misses,
            self.unknown + other.unknown,
        )

    @property
    def trials(self) -> int:
        """How many there are, those without an outcome included."""
        return self.successes + self.misses + self.unknown

    @property
    def worst(self) -> Counts:
        """Successes and trials, had all the unknown ones missed."""
        return self.successes, self.trials

    @property
    def best(self) -> Counts:
        """Successes and trials, had all the unknown ones succeeded."""
        return self.successes + self.unknown, self.trials


Look = Mapping[str, Evidence]
"""What the trials of each task have come to at one point, from the first on."""

Plan = Sequence[Mapping[str, int]]
"""How many trials of each task there are to be at each look, from the first on."""


@dataclass(frozen=True)
class Judgement:
    """What a gate says of one claim, and why; ``evidence`` is of the look that it rests on.

    ``looks`` says which look that is, counted from 1; 0 where there was none. ``more`` estimates
    how many more trials would decide, None where that is not to be told.
    """

    decision: Decision
    reason: str
    looks: int
    evidence: Evidence
    more: int | None = None


@dataclass(frozen=True)
class Claim:
    """What is judged: the trials of an agent and LLM, on one ``task`` or on all (None)."""

    agent: str
    llm: str | None
    task: str | None = None

    def __str__(self) -> str:
        """Name it as the table does."""
        return " · ".join(filter(None, (self.task, self.agent, self.llm)))


@dataclass(frozen=True)
class Verdict:
    """What a gate says of a session: it passes if every claim does, and fails if any does.

    ``notes`` say what the verdict does not rest on; ``not_needed`` counts the trials that were
    spared because it was sure before.
    """

    gate: str
    claims: Mapping[Claim, Judgement]
    notes: tuple[str, ...] = ()
    not_needed: int = 0

    @property
    def decision(self) -> Decision:
        """Pass, fail or undecided."""
        decisions = {judgement.decision for judgement in self.claims.values()}
        if "fail" in decisions:
            return "fail"
        return "undecided" if "undecided" in decisions or not decisions else "pass"

    @property
    def deciding(self) -> dict[Claim, Judgement]:
        """The claims that made it so: all of them where it passes."""
        return {
            claim: judgement
            for claim, judgement in self.claims.items()
            if judgement.decision == self.decision
        }

    @property
    def reason(self) -> str:
        """Why it is so, on one line."""
        if len(self.claims) == 1:
            return next(judgement.reason for judgement in self.claims.values())
        parts = [f"{claim}: {judgement.reason}" for claim, judgement in self.deciding.items()]
        return f"{len(parts)} of {count(len(self.claims), 'claim')}: " + "; ".join(parts)

    @property
    def more(self) -> int | None:
        """About how many more trials would decide; None where that is not to be told."""
        if self.decision != "undecided":
            return None
        numbers = [judgement.more for judgement in self.deciding.values()]
        known = [number for number in numbers if number is not None]
        return sum(known) if len(known) == len(numbers) else None


def format_share(share: float) -> str:
    """Give a share in per cent, with as many digits as it has."""
    return f"{round(share * 100, 2):g} %"


def count(number: int, what: str) -> str:
    """Give a number of things in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"
