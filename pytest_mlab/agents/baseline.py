"""The paper's trivial policy: run the starter as it is, and submit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_mlab.environment import Environment


class BaselineAgent:
    """Does nothing of its own; must never succeed."""

    name = "baseline"
    asks_llm = False

    def run(self, environment: Environment) -> None:
        """Run the starter and submit."""
        environment.act("Execute Script", script_name=environment.task.starter)
        environment.act("Final Answer", final_answer="The starter code, unmodified.")
