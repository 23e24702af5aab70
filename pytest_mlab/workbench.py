"""The hands of an agent: its workspace, and processes that run in it within its walls."""

import itertools
import sys
from functools import cached_property
from pathlib import Path

from pytest_mlab.exceptions import ActionError, InfraError
from pytest_mlab.models import Models
from pytest_mlab.process import Completed, run_command
from pytest_mlab.quota import Quota
from pytest_mlab.repl import Repl, Reply
from pytest_mlab.runs import RESEARCH_LOG
from pytest_mlab.sandbox import Sandbox, View
from pytest_mlab.workspace import Workspace


class Workbench:
    """What actions work on; the output of each script is kept whole, as it comes, in ``outputs``.

    Processes are bounded by ``seconds``, which the environment sets before each action. ``problem``
    is the task's text and ``models`` are the LLMs, for the actions that ask one. ``log`` is the
    Research Log, which grows where no script of the agent's reaches it.
    """

    def __init__(
        self,
        workspace: Workspace,
        sandbox: Sandbox,
        view: View,
        outputs: Path,
        *,
        problem: str = "",
        models: Models | None = None,
    ) -> None:
        self.seconds = 0.0
        self.workspace = workspace
        self.log = outputs.with_name(RESEARCH_LOG)
        self.problem = problem
        self.models = models
        self._sandbox = sandbox
        self._view = view
        self._outputs = outputs
        # a trial that is gone on with has outputs already
        self._numbers = itertools.count(1 + len(list(outputs.glob("*.txt"))))
        self._repl: Repl | None = None

    @cached_property
    def _quota(self) -> Quota:
        return Quota(self.workspace.root, self._view.workspace_gb, self._view.workspace_files)

    def copy(self, source: str, destination: str) -> None:
        """Copy a file or folder within the workspace, or refuse where it would hold too much."""
        if not self._quota.admits(self.workspace.measure(source)):
            raise ActionError(
                f'with a copy of "{source}", the workspace would hold more than it may: '
                f"{self._quota}; delete what is not needed"
            )
        self.workspace.copy(source, destination)

    def execute(self, script: str) -> Completed:
        """Run a Python script of the workspace to its end; `InfraError` where none can be run."""
        path = self.workspace.path(script)
        try:
            self._outputs.mkdir(exist_ok=True)
            return run_command(
                self._sandbox.command([sys.executable, str(path)], self._view),
                cwd=self.workspace.root,
                environment=self._sandbox.environment(self._view),
                seconds=self.seconds,
                drain_seconds=self._sandbox.drain_seconds,
                log=self._outputs / f"{next(self._numbers):04}.txt",
                quota=self._quota,
            )
        except OSError as error:
            raise InfraError(f"{script} could not be run, or its output kept: {error}") from error

    def evaluate(self, code: str) -> Reply:
        """Run Python code in the process that keeps its state between calls."""
        if self._repl is None:
            self._repl = Repl(self._sandbox, self._view, quota=self._quota)
        return self._repl.run(code, self.seconds)

    def close(self) -> None:
        """End the process that keeps state."""
        if self._repl is not None:
            self._repl.close()
