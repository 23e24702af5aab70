"""What an agent sees: the problem, the actions, what remains to it; every step is recorded."""

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_mlab.actions import Action
from pytest_mlab.checkpoint import Checkpoint
from pytest_mlab.decoys import Decoys
from pytest_mlab.exceptions import ActionError, AgentStop, InfraError, LimitReached, Submitted
from pytest_mlab.history import History, describe_step
from pytest_mlab.llm import LLM
from pytest_mlab.models import Models
from pytest_mlab.results import Stop, Usage
from pytest_mlab.steps import Observation, Step
from pytest_mlab.task import Task
from pytest_mlab.trace import Trace
from pytest_mlab.workbench import Workbench


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
        history: History | None = None,
        decoys: Decoys | None = None,
        past: Checkpoint | None = None,
        models: Models | None = None,
        seed: int = 0,
    ) -> None:
        self.task = task
        self.actions = tuple(actions)
        self.seed = seed
        self.gave_up = ""
        self.decoys = decoys
        self._models = models
        self._steps: list[Step] = []
        self._charged = 0
        self._workbench = workbench
        self._limits = limits
        self._trace = trace
        self._history = history
        self._failure: InfraError | None = None
        self._start: float | None = None
        self._end: float | None = None
        self._submitted = False
        self._told = Usage()
        self._noted: dict[str, Any] = {}
        self._before = 0.0
        if past is not None:
            self._go_on_from(past)
        if models is not None:
            models.meter.seconds = lambda: self.remaining.seconds

    def start(self) -> None:
        """Start the clock; called by the trial, just before the agent's turn."""
        self._start = time.monotonic() - self._before

    def end(self, stop: Stop, crash: str = "") -> None:
        """Stop the clock and what still runs, record how the turn ended; called by the trial."""
        self._end = time.monotonic()
        self._workbench.close()
        usage = {} if self._models is None else {"usage": dataclasses.asdict(self.usage)}
        if self._history is not None:
            self._history.record(f"end: {stop}", crash)
        self._trace.append("end", stop=stop, crash=crash, **usage)

    @property
    def instruction(self) -> str:
        """The research problem, as the task's author wrote it."""
        return self.task.instruction

    @property
    def llm(self) -> LLM | None:
        """The language model to ask, `None` where the session names none or the agent asks none."""
        return None if self._models is None else self._models.main

    @property
    def fast_llm(self) -> LLM | None:
        """The one for summaries: that of ``--mlab-fast-llm``, else the same as `llm`."""
        return None if self._models is None else self._models.fast

    @property
    def edit_llm(self) -> LLM | None:
        """The one that edits files: that of ``--mlab-edit-llm``, else the same as `llm`."""
        return None if self._models is None else self._models.edit

    @property
    def usage(self) -> Usage:
        """What the LLMs have used so far, in their providers' own figures."""
        return Usage() if self._models is None else self._models.usage

    @property
    def limits(self) -> Limits:
        """What the whole turn may use."""
        return self._limits

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was done so far, oldest first, bookkeeping included."""
        return tuple(self._steps)

    @property
    def charged(self) -> int:
        """How many of the steps count against the limit."""
        return self._charged

    @property
    def seconds(self) -> float:
        """How long the turn has lasted."""
        if self._start is None:
            return self._before
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
        self._charged += action is None or action.charged
        try:
            observation = Observation(self._do(action, name, arguments))
        except ActionError as error:
            observation = Observation(str(error), ok=False)
        except AgentStop as stop:
            self._record(name, arguments, Observation(str(stop), ok=False))
            raise
        except InfraError as error:
            self._failure = error
            raise
        self._record(name, arguments, observation)
        if action is not None and action.final and observation.ok:
            self._submitted = True
            raise Submitted
        return observation

    def note(self, **fields: Any) -> None:
        """Write something down in the trace: a thought, a plan."""
        self._noted |= fields
        self._trace.append("note", **fields)

    def give_up(self, reason: str) -> None:
        """Say why the agent is about to return without a final answer; the result repeats it."""
        self.gave_up = reason
        self.note(gave_up=reason)

    def check_limits(self) -> None:
        """Raise `LimitReached` where one of the limits is used up, `Submitted` after that.

        An agent that calls it before it asks its LLM pays for no answer that it cannot act on.
        """
        self.check_record()
        if self._submitted:
            raise Submitted
        left = self.remaining
        if left.seconds <= 0:
            raise LimitReached("time")
        if left.steps <= 0:
            raise LimitReached("steps")
        if left.tokens == 0:
            raise LimitReached("tokens")
        if left.cost == 0:
            raise LimitReached("cost")

    def _go_on_from(self, past: Checkpoint) -> None:
        """Count what an interrupted trial has done and used as done and used."""
        free = {action.name for action in self.actions if not action.charged}
        self._steps = list(past.steps)
        self._charged = sum(step.action not in free for step in past.steps)
        self._before = past.seconds
        if self._models is not None:
            self._models.meter.usage = self._told = past.usage

    def check_record(self) -> None:
        """Raise again that a step could not be done or recorded, if the agent swallowed it."""
        if self._failure is not None:
            raise self._failure

    def _do(self, action: Action | None, name: str, arguments: dict[str, Any]) -> str:
        if action is None:
            names = ", ".join(action.name for action in self.actions)
            raise ActionError(f'there is no action "{name}"; there are: {names}')
        self._workbench.seconds = self.remaining.seconds
        return action.run(self._workbench, **action.check(arguments))

    def _record(self, name: str, arguments: dict[str, Any], observation: Observation) -> None:
        usage, self._told = _difference(self.usage, self._told), self.usage
        step = Step(name, arguments, observation, usage, self._noted)
        self._noted = {}
        self._steps.append(step)
        spent = {} if self._models is None else {"usage": dataclasses.asdict(usage)}
        try:
            commit = self._keep_history(step)
            self._trace.append(
                "step",
                action=step.action,
                arguments=step.arguments,
                observation=step.observation.text,
                ok=step.observation.ok,
                elapsed=round(self.seconds, 6),
                **spent,
                **commit,
            )
        except InfraError as error:
            self._failure = error
            raise

    def _keep_history(self, step: Step) -> dict[str, str]:
        """Record the workspace as a step has left it; the time that takes is not the agent's."""
        if self._history is None:
            return {}
        begin = time.monotonic()
        seen = step.observation
        message = describe_step(
            len(self._steps), step.action, step.arguments, seen.text, ok=seen.ok
        )
        commit = self._history.record(*message)
        if self._start is not None:
            self._start += time.monotonic() - begin
        return {"commit": commit}


def _difference(now: Usage, before: Usage) -> Usage:
    return Usage(
        now.input_tokens - before.input_tokens,
        now.output_tokens - before.output_tokens,
        now.cached_tokens - before.cached_tokens,
        now.cost_usd - before.cost_usd,
    )
