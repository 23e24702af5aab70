"""The paper's simplest agent with a language model: an action, and nothing said about it."""

from pytest_mlab.agents.entries import EntriesAgent


class SimpleAgent(EntriesAgent):
    """Answers with an action and its arguments only."""

    name = "simple"
