"""Which of the actions an agent gets."""

from collections.abc import Sequence

from pytest_mlab.actions import ACTIONS, Action
from pytest_mlab.agents import Agent
from pytest_mlab.exceptions import UsageError
from pytest_mlab.llm_actions import LLM_ACTIONS


def choose_actions(agent: Agent, llm: str | None) -> Sequence[Action]:
    """Give the actions that an agent names, else all; those that ask an LLM only with one."""
    possible = ACTIONS if llm is None else (*ACTIONS, *LLM_ACTIONS)
    wanted: Sequence[str] | None = getattr(agent, "actions", None)
    if wanted is None:
        return possible
    known = {action.name: action for action in (*ACTIONS, *LLM_ACTIONS)}
    for name in wanted:
        if name not in known:
            raise UsageError(
                f'{type(agent).__name__}.actions names "{name}"; there are: {", ".join(known)}'
            )
    return [known[name] for name in wanted if known[name] in possible]
