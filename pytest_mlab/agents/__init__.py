"""Agents: who acts in an environment; one file an agent, and the look-up from a name to one."""

import difflib
import importlib
import importlib.metadata
from collections.abc import Callable
from typing import Any, Protocol, cast

from pytest_mlab.environment import Environment
from pytest_mlab.exceptions import UsageError

ENTRY_POINTS = "pytest_mlab.agents"

BUILT_IN = {
    "baseline": "pytest_mlab.agents.baseline:BaselineAgent",
    "hillclimb": "pytest_mlab.agents.hillclimb:HillclimbAgent",
    "solution": "pytest_mlab.agents.solution:SolutionAgent",
}
DEFAULT = "hillclimb"
"""The agent of a session that names neither an agent nor an LLM."""


class Agent(Protocol):
    """A policy: acts in an environment until it has submitted, gives up or is stopped.

    Two attributes are looked at where an agent has them: ``name``, for the reports, and
    ``asks_llm``, which is `False` for an agent that never uses ``environment.llm``.
    """

    def run(self, environment: Environment) -> None:
        """Take the turn; called once, on an agent made for this trial."""


class _FunctionAgent:
    """A plain function as an agent."""

    def __init__(self, function: Callable[[Environment], None]) -> None:
        self.run = function


def find_agent(name: str) -> Agent:
    """Make the agent of a name: one built in, an entry point's, or ``package.module:attribute``.

    The attribute is a class (made without arguments), an object with ``run``, or a function of
    the environment. Raises `UsageError` where there is none.
    """
    target = _load(name)
    if isinstance(target, type):
        target = target()
    if callable(getattr(target, "run", None)):
        return cast("Agent", target)
    if callable(target):
        return _FunctionAgent(target)
    raise UsageError(f'agent "{name}" is a {type(target).__name__}; it needs run(environment)')


def asks_llm(agent: Agent) -> bool:
    """Tell whether an agent is to be given an LLM."""
    return bool(getattr(agent, "asks_llm", True))


def _load(name: str) -> Any:
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    if name in points.names:
        return points[name].load()
    known = sorted({*BUILT_IN, *points.names})
    reference = BUILT_IN.get(name, name)
    module, colon, attribute = reference.partition(":")
    if not colon:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(known)}"
        raise UsageError(
            f'there is no agent "{name}"; {hint} Your own: --mlab-agent=package.module:attribute'
        )
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f'agent "{name}" cannot be loaded: {error}; is the folder of {module} on the path '
            "(ini option pythonpath)?"
        ) from error
