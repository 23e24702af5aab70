"""What an agent sees: the problem, the actions, what remains to it; every step is recorded."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mlab.actions import Action
from pytest_mlab.exceptions import ActionError, LimitReached, Submitted
from pytest_mlab.results import Stop, Usage
from pytest_mlab.task import Task
from pytest_mlab.trace import Trace
from pytest_mlab.workbench import Workbench


@dataclass(frozen=True)
class Observation:
    """What an action came to; not ``ok`` where it could not be done or what it ran failed."""

    text: str
    ok: bool = True


@dataclass(frozen=True)
class Step:
    """One action and its observation."""

    action: str
    arguments: dict[str, Any]
    observation: Observation


@dataclass(frozen=True)
class Remaining:
    """What an agent may still use; `None` where there is no limit."""

    seconds: float
    steps: int
    tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Limits:
    """What an agent may use in one trial, as task and options together say."""

    seconds: float
    steps: int
    tokens: int | None = None
    cost: float | None = None


class Environment:
    """One trial's world as its agent sees it.

    An agent calls `act` until it has handed in its final answer or is out of a limit, both of
    which `act` says by raising an `AgentStop`. The trial calls `start` when the turn begins.
    """

    def __init__(
        self,
        task: Task,
        workbench: Workbench,
        *,
        actions: Sequence[Action],
        limits: Limits,
        trace: Trace,
        seed: int = 0,
    ) -> None:
        self.task = task
        self.actions = tuple(actions)
        self.seed = seed
        self.usage = Usage()
        self._steps: list[Step] = []
        self._charged = 0
        self._workbench = workbench
        self._limits = limits
        self._trace = trace
        self._start: float | None = None
        self._end: float | None = None

    def start(self) -> None:
        """Start the clock; called by the trial, just before the agent's turn."""
        self._start = time.monotonic()

    def end(self, stop: Stop, crash: str = "") -> None:
        """Stop the clock and record how the turn ended; called by the trial."""
        self._end = time.monotonic()
        self._trace.append("end", stop=stop, crash=crash)

    @property
    def instruction(self) -> str:
        """The research problem, as the task's author wrote it."""
        return self.task.instruction

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was done so far, oldest first."""
        return tuple(self._steps)

    @property
    def seconds(self) -> float:
        """How long the turn has lasted."""
        if self._start is None:
            return 0.0
        return (self._end or time.monotonic()) - self._start

    @property
    def remaining(self) -> Remaining:
        """What is left of the limits."""
        limits, usage = self._limits, self.usage
        return Remaining(
            seconds=max(0.0, limits.seconds - self.seconds),
            steps=max(0, limits.steps - self._charged),
            tokens=None if limits.tokens is None else max(0, limits.tokens - usage.tokens),
            cost=None if limits.cost is None else max(0.0, limits.cost - usage.cost_usd),
        )

    def act(self, name: str, /, **arguments: Any) -> Observation:
        """Do one action; raises `Submitted` after the final one and `LimitReached` past a limit.

        What is wrong with the action, an unknown name too, comes back as an observation.
        """
        self.check_limits()
        action = next((action for action in self.actions if action.name == name), None)
        if action is None or action.charged:
            self._charged += 1
        try:
            observation = Observation(self._do(action, name, arguments))
        except ActionError as error:
            observation = Observation(str(error), ok=False)
        self._record(Step(name, arguments, observation))
        if action is not None and action.final and observation.ok:
            raise Submitted
        return observation

    def check_limits(self) -> None:
        """Raise `LimitReached` where one of the limits is used up."""
        left = self.remaining
        if left.seconds <= 0:
            raise LimitReached("time")
        if left.steps <= 0:
            raise LimitReached("steps")
        if left.tokens == 0:
            raise LimitReached("tokens")
        if left.cost == 0:
            raise LimitReached("cost")

    def _do(self, action: Action | None, name: str, arguments: dict[str, Any]) -> str:
        if action is None:
            names = ", ".join(action.name for action in self.actions)
            raise ActionError(f'there is no action "{name}"; there are: {names}')
        self._workbench.seconds = self.remaining.seconds
        return action.run(self._workbench, **action.check(arguments))

    def _record(self, step: Step) -> None:
        self._steps.append(step)
        self._trace.append(
            "step",
            action=step.action,
            arguments=step.arguments,
            observation=step.observation.text,
            ok=step.observation.ok,
        )
