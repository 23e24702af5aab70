"""ReAct (Yao and others, 2023) as in the paper: a thought, then an action."""

from pytest_mlab.agents.entries import EntriesAgent
from pytest_mlab.agents.responses import ACTION, INPUT


class ReactAgent(EntriesAgent):
    """Answers with a thought, an action and its arguments."""

    name = "react"
    entries = ("Thought", ACTION, INPUT)
