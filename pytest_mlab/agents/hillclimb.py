"""A hill climber without a language model: changes one thing, runs, keeps what is better.

It reads the starter's source, changes a number or a scikit-learn estimator in it, runs it, and
believes the validation figure that the script prints. It sees what any agent sees, knows no task,
and is deterministic for a given seed.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_mlab.agents.mutations import Mutation, fingerprint, list_mutations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_mlab.environment import Environment

RESERVE = 2
"""Steps kept back: to run the best script again, and to submit."""
PATIENCE = 12
"""Attempts in a row that bring nothing, after which it is content."""
SAFETY = 3.0
"""Times the length of the best run that is kept back for running it again."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Attempt:
    """A version of the script, the validation figure it printed, and how long it ran."""

    source: str
    figure: float
    seconds: float


class HillclimbAgent:
    """Climbs from the starter as far as steps and time allow."""

    name = "hillclimb"
    asks_llm = False

    def run(self, environment: Environment) -> None:
        """Climb, run the best version once more and submit."""
        script = environment.task.starter
        source = environment.act("Read File", file_name=script).text
        best = self._try(environment, script, source)
        if best is not None:
            best = self._climb(environment, script, best)
            environment.act("Write File", file_name=script, content=best.source)
            environment.act("Execute Script", script_name=script)
        environment.act("Final Answer", final_answer=f"The best version of {script} found.")

    def _climb(self, environment: Environment, script: str, best: Attempt) -> Attempt:
        chance = random.Random(environment.seed)
        tried = {fingerprint(best.source)}
        moves = _shuffled_moves(best.source, chance)
        in_vain = 0
        while in_vain < PATIENCE and self._can_go_on(environment, best):
            move = next(moves, None)
            if move is None:
                break
            source = move.apply()
            mark = move.estimator or fingerprint(source)
            if mark in tried:
                continue
            tried.add(mark)
            in_vain += 1
            environment.act("Write File", file_name=script, content=source)
            attempt = self._try(environment, script, source)
            if attempt is not None and self._is_better(environment, attempt, best):
                best, in_vain = attempt, 0
                moves = _shuffled_moves(best.source, chance)
        return best

    def _try(self, environment: Environment, script: str, source: str) -> Attempt | None:
        before = environment.remaining.seconds
        observation = environment.act("Execute Script", script_name=script)
        figure = find_figure(observation.text, environment.task.metric.name)
        if not observation.ok or figure is None:
            return None
        return Attempt(source, figure, before - environment.remaining.seconds)

    def _can_go_on(self, environment: Environment, best: Attempt) -> bool:
        left = environment.remaining
        return left.steps >= 2 + RESERVE + 1 and left.seconds > 2 * SAFETY * best.seconds

    def _is_better(self, environment: Environment, attempt: Attempt, best: Attempt) -> bool:
        if environment.task.metric.goal == "maximize":
            return attempt.figure > best.figure
        return attempt.figure < best.figure


def _shuffled_moves(source: str, chance: random.Random) -> Iterator[Mutation]:
    """Give the ways to change a script: whole estimators first, then numbers."""
    moves = list_mutations(source)
    chance.shuffle(moves)
    return iter(sorted(moves, key=lambda move: move.rank))


def find_figure(output: str, metric: str) -> float | None:
    """Find the validation figure in what a script printed.

    It is the last number of the last line that speaks of validation, or else of the metric.
    """
    lines = output.splitlines()
    for word in ("valid", metric):
        # Not within a word: warnings speak of invalid values, in line 12.
        speaks = re.compile(rf"(?<![a-z]){re.escape(word)}", re.IGNORECASE)
        for line in reversed(lines):
            numbers = _NUMBER.findall(line)
            if speaks.search(line) and numbers:
                figure = float(numbers[-1])
                return figure if math.isfinite(figure) else None
    return None
