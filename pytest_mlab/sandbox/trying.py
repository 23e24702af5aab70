"""Finding out whether a sandbox works on this machine, by using it."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pytest_mlab.process import run_command
from pytest_mlab.sandbox.view import View


class _Sandbox(Protocol):
    def command(self, argv: Sequence[str], view: View) -> list[str]: ...
    def environment(self, view: View) -> dict[str, str]: ...


def try_sandbox(sandbox: _Sandbox) -> str:
    """Let our Python write a file in it; give the reason why it cannot, or nothing."""
    with tempfile.TemporaryDirectory(prefix="mlab-") as name:
        view = View(writable=Path(name).resolve())
        run = run_command(
            sandbox.command([sys.executable, "-c", "open('made', 'w')"], view),
            cwd=view.writable,
            environment=sandbox.environment(view),
            seconds=20,
        )
        if (view.writable / "made").exists() and run.exit_code == 0:
            return ""
    return run.stderr.strip() or run.describe_end()
