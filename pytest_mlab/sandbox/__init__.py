"""How a command runs confined; one module a kind, `docs/sandbox.md` says what each promises."""

from collections.abc import Sequence
from typing import Protocol

from pytest_mlab.sandbox.none import NoSandbox
from pytest_mlab.sandbox.view import View

__all__ = ["Sandbox", "View", "find_sandbox"]


class Sandbox(Protocol):
    """A way of running commands confined."""

    @property
    def name(self) -> str:
        """The name it is chosen by."""

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv` confined to a view."""

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment that command line is to be started with."""

    def check(self) -> None:
        """Try it; raise `InfraError`, with the reason and the remedy, where it does not work."""


def find_sandbox(name: str) -> Sandbox:
    """Give the sandbox of a name, or for "auto" the strongest that works here."""
    return NoSandbox()
