"""Agents: who acts in an environment; one file an agent, and the look-up from a name to one."""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import re
from typing import TYPE_CHECKING, Any, Protocol, cast

from pytest_mlab.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_mlab.environment import Environment

ENTRY_POINTS = "pytest_mlab.agents"

BUILT_IN = {
    "baseline": "pytest_mlab.agents.baseline:BaselineAgent",
    "cheat": "pytest_mlab.agents.cheat:CheatAgent",
    "hillclimb": "pytest_mlab.agents.hillclimb:HillclimbAgent",
    "react": "pytest_mlab.agents.react:ReactAgent",
    "research": "pytest_mlab.agents.research:ResearchAgent",
    "simple": "pytest_mlab.agents.simple:SimpleAgent",
    "solution": "pytest_mlab.agents.solution:SolutionAgent",
    "tools": "pytest_mlab.agents.tools:ToolsAgent",
}
DEFAULT = "hillclimb"
"""The agent of a session that names neither an agent nor an LLM."""
DEFAULT_WITH_LLM = "research"
"""The agent of a session that names an LLM only."""


_VARIANT = re.compile(r"(?P<agent>[a-z]+)(?P<switches>[-+].+)")


class Agent(Protocol):
    """A policy: acts in an environment until it has submitted, gives up or is stopped.

    Four attributes are looked at where an agent has them: ``name``, for the reports; ``goes_on``,
    which is `True` for an agent that, in an interrupted trial, goes on from ``environment.steps``;
    ``asks_llm``, which is `True` for an agent that cannot do without ``environment.llm`` and
    `False` for one that never uses it; and ``actions``, the names of those it wants, where it does
    not want all.
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
        try:
            target = target()
        except Exception as error:
            raise UsageError(
                f'agent "{name}" cannot be made without arguments: {_describe(error)}; '
                "name an object or a function of no more than the environment"
            ) from error
    if callable(getattr(target, "run", None)):
        return cast("Agent", target)
    if callable(target):
        return _FunctionAgent(target)
    raise UsageError(f'agent "{name}" is a {type(target).__name__}; it needs run(environment)')


def name_of(agent: Agent) -> str:
    """Give an agent's own name, for the reports."""
    return str(getattr(agent, "name", type(agent).__name__))


def asks_llm(agent: Agent) -> bool:
    """Tell whether an agent is to be given an LLM where there is one."""
    return bool(getattr(agent, "asks_llm", True))


def needs_llm(agent: Agent) -> bool:
    """Tell whether an agent cannot do without an LLM."""
    return bool(getattr(agent, "asks_llm", False))


def goes_on(agent: Agent) -> bool:
    """Tell whether an agent can go on from the steps of an interrupted trial."""
    return bool(getattr(agent, "goes_on", False))


def describe_agent(agent: Agent) -> str:
    """Give an agent's class and options, the same in every process; its code is not among them."""
    if isinstance(agent, _FunctionAgent):
        return f"{agent.run.__module__}:{getattr(agent.run, '__qualname__', '')}"
    given = vars(agent) if hasattr(agent, "__dict__") else {}
    options = ", ".join(f"{key}={_show_option(value)}" for key, value in sorted(given.items()))
    return f"{type(agent).__module__}:{type(agent).__qualname__}({options})"


def _show_option(value: object) -> str:
    if isinstance(value, (str, int, float, bool, type(None))):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_show_option, value))}]"
    return f"<{type(value).__name__}>"


def _load(name: str) -> Any:
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    if name in points.names and name not in BUILT_IN:
        return _import(name, points[name].value)
    variant = _VARIANT.fullmatch(name)
    if variant and variant["agent"] in BUILT_IN:
        agent = _load(variant["agent"])
        if hasattr(agent, "variant"):
            return agent.variant(variant["switches"])
    known = sorted({*BUILT_IN, *points.names})
    reference = BUILT_IN.get(name, name)
    if ":" not in reference:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(known)}."
        raise UsageError(
            f'there is no agent "{name}"; {hint} Your own: --mlab-agent=package.module:attribute'
        )
    return _import(name, reference)


def _import(name: str, reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError)
        hint = f"; is the folder of {module} on the path (ini option pythonpath)?"
        raise UsageError(
            f'agent "{name}" cannot be loaded: {_describe(error)}{hint if missing else ""}'
        ) from error


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
