"""No confinement: limits and a clean environment, for code that is trusted."""

from collections.abc import Sequence

from pytest_mlab.process import DRAIN_SECONDS
from pytest_mlab.sandbox.cgroup import enter_group
from pytest_mlab.sandbox.limits import limit_command
from pytest_mlab.sandbox.view import View, allowed_environment


class NoSandbox:
    """Runs a command with resource limits only; it sees and changes what its user can."""

    name = "none"
    inherits = True
    drain_seconds = DRAIN_SECONDS

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv`."""
        return limit_command(argv, view, apart=False, enter=enter_group(view))

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment to start it with."""
        return allowed_environment(view)
