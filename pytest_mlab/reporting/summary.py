"""Successes, rates and means of many trials, counted in one place for every report."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_mlab.results import STATUSES, Identity, Result, Status, Usage
from pytest_mlab.statistics import wilson_interval


@dataclass(frozen=True)
class Skip:
    """A trial that could not start for lack of a package, data or a device; no result."""

    identity: Identity
    reason: str


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What came of a group of trials: every one is in exactly one of ``statuses``.

    ``mean_improvement`` is over the valid trials only; ``mean_steps`` and ``mean_seconds`` are
    over all of them. A mean of nothing is None. ``flagged`` trials are those to be looked at.
    """

    statuses: Mapping[Status, int]
    valid: int
    mean_improvement: float | None
    mean_steps: float | None
    mean_seconds: float | None
    seconds: float
    usage: Usage
    flagged: int
    skipped: int

    @property
    def trials(self) -> int:
        """The denominator: every trial that was started, whatever became of it."""
        return sum(self.statuses.values())

    @property
    def successes(self) -> int:
        """How many final submissions beat the baseline by more than the threshold."""
        return self.statuses["success"]

    @property
    def rate(self) -> float | None:
        """Successes over trials; None where there are no trials."""
        return self.successes / self.trials if self.trials else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate."""
        return wilson_interval(self.successes, self.trials)

    @property
    def invalid(self) -> int:
        """How many ended without a submission that can be scored, by the agent's own doing."""
        return self.statuses["invalid-submission"] + self.statuses["no-submission"]

    @property
    def tampered(self) -> int:
        """How many are not counted for what the agent did to what it was to leave alone."""
        return self.statuses["tampered"]

    @property
    def errors(self) -> int:
        """How many broke down: the agent's program, the provider, the machine, the harness."""
        names: tuple[Status, ...] = ("agent-error", "infra-error", "harness-error")
        return sum(self.statuses[name] for name in names)


@dataclass(frozen=True)
class Row:
    """The tally of one agent and LLM on one task, or on all of them where ``task`` is None."""

    agent: str
    llm: str | None
    task: str | None
    tally: Tally

    @property
    def subject(self) -> str:
        """Who tried: the agent and, where it asks one, its LLM."""
        return self.agent if self.llm is None else f"{self.agent} · {self.llm}"


@dataclass(frozen=True)
class Summary:
    """A session's figures: per agent and task, per agent, and over everything."""

    rows: tuple[Row, ...]
    subjects: tuple[Row, ...]
    total: Tally

    def rows_of(self, subject: Row) -> list[Row]:
        """Give an agent's rows of tasks that have trials, and its own row if they are several."""
        rows = [
            row
            for row in self.rows
            if (row.agent, row.llm) == (subject.agent, subject.llm) and row.tally.trials
        ]
        return [*rows, subject] if len(rows) > 1 else rows


@dataclass
class _Group:
    results: list[Result] = field(default_factory=list)
    skipped: int = 0


def summarise(results: Sequence[Result], skips: Sequence[Skip] = ()) -> Summary:
    """Count what came of the trials, sorted by agent, LLM and task."""
    groups: dict[tuple[str, str | None, str | None], _Group] = {}
    for result in results:
        for task in (result.task, None):
            key = (result.agent, result.llm, task)
            groups.setdefault(key, _Group()).results.append(result)
    for skip in skips:
        for task in (skip.identity.task, None):
            key = (skip.identity.agent, skip.identity.llm, task)
            groups.setdefault(key, _Group()).skipped += 1
    keys = sorted(groups, key=lambda key: tuple(part or "" for part in key))
    rows = [Row(*key, tally(groups[key].results, groups[key].skipped)) for key in keys]
    return Summary(
        rows=tuple(row for row in rows if row.task is not None),
        subjects=tuple(row for row in rows if row.task is None),
        total=tally(results, len(skips)),
    )


def tally(results: Sequence[Result], skipped: int = 0) -> Tally:
    """Count one group of trials."""
    statuses = dict.fromkeys(STATUSES, 0)
    usage = Usage()
    for result in results:
        statuses[result.status] += 1
        usage += result.usage
    return Tally(
        statuses=statuses,
        valid=sum(result.valid for result in results),
        mean_improvement=_mean(
            result.improvement for result in results if result.improvement is not None
        ),
        mean_steps=_mean(result.steps for result in results),
        mean_seconds=_mean(result.seconds for result in results),
        seconds=sum(result.seconds for result in results),
        usage=usage,
        flagged=sum(bool(result.flags) for result in results),
        skipped=skipped,
    )


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    mean = sum(numbers) / len(numbers) if numbers else math.nan
    return mean if math.isfinite(mean) else None
