"""How a command runs confined; one module a kind, `docs/sandbox.md` says what each promises."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Protocol

from pytest_mlab.exceptions import InfraError
from pytest_mlab.sandbox.bubblewrap import find_bubblewrap
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


def find_sandbox(name: str) -> Sandbox:
    """Give the sandbox of a name, or for "auto" the strongest that works here.

    Each is tried once a process. Raises `InfraError`, with the reason and the remedy, where the
    named one does not work here.
    """
    if name == "auto":
        return _find_strongest()
    if name not in _KINDS:
        raise InfraError(f'there is no sandbox "{name}"; choose {", ".join(("auto", *_KINDS))}')
    return _KINDS[name]()


@cache
def _find_strongest() -> Sandbox:
    for find in (find_bubblewrap,):
        with suppress(InfraError):
            return find()
    return NoSandbox()


_KINDS: dict[str, Callable[[], Sandbox]] = {
    "bwrap": find_bubblewrap,
    "none": NoSandbox,
}
