"""A gate on the success rate: is it at least so much?"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_mlab.gates.evidence import (
    ERROR,
    Decision,
    Evidence,
    Judgement,
    Look,
    Plan,
    count,
    format_share,
)
from pytest_mlab.sequential import enough_successes
from pytest_mlab.statistics import wilson_interval

FAR = 100_000
"""Nobody is advised to run more trials than this."""


@dataclass(frozen=True)
class RateGate:
    """``rate>=RATE``: successes over trials, by the ends of the interval or ``by_point``.

    At one look the interval is Wilson's, as it is shown; at several, a group-sequential test takes
    its place. A gate passes only if every claim does, so that none needs a correction for their
    number; any of them may fail it, so that each has its part of that error (Bonferroni).
    """

    text: str
    rate: float
    per_task: bool = False
    by_point: bool = False

    def judge(self, looks: Sequence[Look], plan: Plan, claims: int = 1) -> Judgement:
        """Judge a claim, one of ``claims``, at the first look that decides; else undecided."""
        sizes = tuple(sum(tasks.values()) for tasks in plan)
        seen = [sum(look.values(), Evidence()) for look in looks]
        for number, evidence in enumerate(seen, start=1):
            found = self._decide(number, evidence, sizes, claims) if evidence.trials else None
            if found is not None:
                decision, why = found
                return Judgement(decision, f"{_describe(evidence)}: {why}", number, evidence)
        evidence = seen[-1] if seen else Evidence()
        reason, more = self._explain(evidence, claims)
        return Judgement("undecided", reason, len(seen), evidence, more)

    def _decide(
        self, number: int, evidence: Evidence, sizes: tuple[int, ...], claims: int
    ) -> tuple[Decision, str] | None:
        if self.by_point:
            return self._decide_by_point(evidence, max(sizes[-1], evidence.trials))
        if len(sizes) == 1:
            return self._decide_by_interval(evidence, claims)
        goal, trials = format_share(self.rate), evidence.trials
        enough = _enough(sizes, self.rate, ERROR / 2)[number - 1]
        if evidence.worst[0] >= enough:
            return "pass", f"{enough} are enough to show {goal} at look {number} of {len(sizes)}"
        misses = _enough(sizes, 1 - self.rate, ERROR / 2 / claims)[number - 1]
        if trials - evidence.best[0] >= misses:
            few = trials - misses
            return "fail", f"{few} are too few for {goal} at look {number} of {len(sizes)}"
        return None

    def _decide_by_point(self, evidence: Evidence, total: int) -> tuple[Decision, str] | None:
        """Decide where the rate of all trials is certain, whatever is still to come."""
        goal, to_come = format_share(self.rate), total - evidence.trials
        if evidence.worst[0] / total >= self.rate:
            return "pass", f"the rate itself is at or above {goal}"
        if (evidence.best[0] + to_come) / total < self.rate:
            return "fail", f"the rate itself is below {goal}"
        return None

    def _decide_by_interval(self, evidence: Evidence, claims: int) -> tuple[Decision, str] | None:
        goal, confidence = format_share(self.rate), 1 - ERROR / claims
        if wilson_interval(*evidence.worst)[0] >= self.rate:
            return "pass", f"the lower end of the interval is at or above {goal}"
        if wilson_interval(*evidence.best, confidence)[1] < self.rate:
            level = f"{format_share(confidence)} interval, corrected for {claims} claims,"
            return (
                "fail",
                f"the upper end of the {level if claims > 1 else 'interval'} is below {goal}",
            )
        return None

    def _explain(self, evidence: Evidence, claims: int) -> tuple[str, int | None]:
        """Say why nothing is decided, and how many more trials would decide."""
        known = evidence.successes + evidence.misses
        if not known:
            return "no trial has an outcome", evidence.unknown or None
        reason = (
            f"{_describe(evidence)}: that does not show whether it is {format_share(self.rate)}"
        )
        if self.by_point:
            return reason, evidence.unknown
        more = _more_trials(evidence.successes / known, known, self.rate, claims)
        return reason, None if more is None else max(more, evidence.unknown, 1)


def _describe(evidence: Evidence) -> str:
    known = evidence.successes + evidence.misses
    words = f"{evidence.successes} of {count(known, 'trial')} succeeded"
    if known:
        low, high = wilson_interval(evidence.successes, known)
        words += f", {evidence.successes / known * 100:.0f} % [{low * 100:.0f}, {high * 100:.0f}]"
    if evidence.unknown:
        words += f", {evidence.unknown} without an outcome counted both ways"
    return words


@lru_cache
def _enough(sizes: tuple[int, ...], rate: float, error: float) -> list[int]:
    return enough_successes(sizes, rate, error)


def _more_trials(rate: float, trials: int, goal: float, claims: int) -> int | None:
    """Estimate how many more trials would decide, were the rate to stay as it is."""

    def decides(number: int) -> bool:
        successes = round(rate * number)
        low = wilson_interval(successes, number)[0]
        return low >= goal or wilson_interval(successes, number, 1 - ERROR / claims)[1] < goal

    few, enough = 0, trials
    while not decides(enough):
        if enough > FAR:
            return None
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    return max(enough - trials, 0)
