"""A gate on a comparison: is it no worse than it was?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_mlab.comparison import Counts, exact_test, rate_difference, smallest_drop
from pytest_mlab.gates.evidence import ERROR, Decision, Evidence, Judgement, Look, Plan, count
from pytest_mlab.sequential import spend

Pair = tuple[Evidence, Evidence]
"""What a task's trials came to before and come to now."""


@dataclass(frozen=True)
class ComparisonGate:
    """``no-worse-than=PATH``: not significantly worse than stored results, paired by task.

    The exact test of `pytest_mlab.comparison`, one-sided. At most 5 % of the gates fail that are no
    worse; with several looks or claims, each has its part of that (Bonferroni).
    """

    text: str
    path: str
    per_task: bool = False

    def judge(self, looks: Sequence[Look], plan: Plan, before: Look, claims: int = 1) -> Judgement:
        """Judge a claim, one of ``claims``, against what the same tasks came to ``before``.

        It fails at the first look that shows it to be worse, and passes as soon as no look to come
        could, whatever the trials that are left.
        """
        tasks = [task for task in sorted(before) if task in plan[-1]]
        if not tasks:
            return Judgement("undecided", "no task was run then as it is now", 0, Evidence())
        levels = _levels(plan, ERROR / claims)
        pairs: list[Pair] = []
        for number, look in enumerate(looks, start=1):
            pairs = [(before[task], look.get(task, Evidence())) for task in tasks]
            if _test([(first.worst, second.best) for first, second in pairs]) <= levels[number - 1]:
                return _judge("fail", pairs, levels, number)
            if all(
                _test(
                    [
                        (first.best, (second.successes, max(sizes[task], second.trials)))
                        for task, (first, second) in zip(tasks, pairs, strict=True)
                    ]
                )
                > level
                for sizes, level in zip(plan[number - 1 :], levels[number - 1 :], strict=True)
            ):
                return _judge("pass", pairs, levels, number)
        now = _sum(second for _, second in pairs)
        unknown = now.unknown + _sum(first for first, _ in pairs).unknown
        reason = f"{count(unknown, 'trial')} without an outcome could make it worse or not"
        return Judgement("undecided", reason, len(looks), now, now.unknown or None)


def _levels(plan: Plan, error: float) -> list[float]:
    """Give the p-value at or below which each look fails; together they are the error."""
    total = sum(plan[-1].values())
    spent = [spend(error, sum(tasks.values()) / total) for tasks in plan]
    return [now - before for before, now in zip([0.0, *spent], spent, strict=False)]


def _test(pairs: Sequence[tuple[Counts, Counts]]) -> float:
    return exact_test(pairs, "less")


def _judge(
    decision: Decision, pairs: Sequence[Pair], levels: Sequence[float], look: int
) -> Judgement:
    """Say what was decided at a look, with the figures that it rests on."""
    before, now = _sum(first for first, _ in pairs), _sum(second for _, second in pairs)
    counts = [(first.worst, second.worst) for first, second in pairs if second.trials]
    difference, (low, high) = rate_difference(counts)
    words = "significantly worse" if decision == "fail" else "not significantly worse"
    reason = (
        f"{now.successes} of {count(now.trials, 'trial')} succeeded, {before.successes} of "
        f"{before.trials} then, on {count(len(counts), 'task')}: {words}, {difference * 100:+.0f} "
        f"points [{low * 100:+.0f}, {high * 100:+.0f}], p = {_test(counts):.2g} with "
        f"{levels[look - 1]:.2g} to fail; {_sensitivity(before, now, levels[-1])}"
    )
    return Judgement(decision, reason, look, now)


def _sensitivity(before: Evidence, now: Evidence, level: float) -> str:
    """Say how large a drop so many trials would show in four of five cases."""
    # so many in each set tell as much as these two numbers
    trials = int(2 / (1 / before.trials + 1 / now.trials))
    drop = smallest_drop(before.successes / before.trials, trials, confidence=1 - 2 * level)
    if drop is None:
        return "so few trials would hardly show even a drop to 0 %"
    return f"so many trials show a drop by {drop * 100:.0f} points 4 times in 5"


def _sum(parts: Iterable[Evidence]) -> Evidence:
    return sum(parts, Evidence())
