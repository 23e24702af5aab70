"""The oracle: lays the task author's solution over the workspace; shows that a task can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_mlab.exceptions import TaskError
from pytest_mlab.task import task_files

if TYPE_CHECKING:
    from pytest_mlab.environment import Environment


class SolutionAgent:
    """Writes the files of ``solution/``, runs the starter's script and submits."""

    name = "solution"
    asks_llm = False

    def run(self, environment: Environment) -> None:
        """Lay the solution over the workspace, run it and submit."""
        task = environment.task
        if task.solution is None:
            raise TaskError(f"{task.folder}: has no solution/ for the solution agent to lay out")
        for path in task_files(task.solution):
            environment.act(
                "Write File",
                file_name=path.relative_to(task.solution).as_posix(),
                content=path.read_text(encoding="utf-8"),
            )
        environment.act("Execute Script", script_name=task.starter)
        environment.act("Final Answer", final_answer="The task author's solution.")
