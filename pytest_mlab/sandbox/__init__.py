"""How a command runs confined; one module a kind, `docs/sandbox.md` says what each promises."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Protocol

from pytest_mlab.exceptions import InfraError
from pytest_mlab.sandbox.bubblewrap import find_bubblewrap
from pytest_mlab.sandbox.container import find_container
from pytest_mlab.sandbox.landlock import find_landlock
from pytest_mlab.sandbox.none import NoSandbox
from pytest_mlab.sandbox.view import View

__all__ = ["Sandbox", "View", "find_sandbox"]


class Sandbox(Protocol):
    """A way of running commands confined."""

    @property
    def name(self) -> str:
        """The name it is chosen by."""

    @property
    def inherits(self) -> bool:
        """Whether descriptors that we hold open can be handed to the command."""

    @property
    def drain_seconds(self) -> float:
        """How long at most to wait for who holds a killed command's pipes, see `run_command`."""

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv` confined to a view."""

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment that command line is to be started with."""


def find_sandbox(name: str, image: str | None = None) -> Sandbox:
    """Give the sandbox of a name, or for "auto" the strongest that works here.

    "container" may be followed by a colon and the engine's command line; it is made from `image`
    or, without one, from the image that a view names. Each kind is tried once
    a process. Raises `InfraError`, with the reason and the remedy, where the named one does not
    work here. "auto" never takes a container, which needs an image, and takes "none" where
    nothing else works.
    """
    kind, _, engine = name.partition(":")
    if kind == "container":
        return find_container(engine, image)
    if name == "auto":
        return _find_strongest()
    if name not in _KINDS:
        names = ", ".join(("auto", *_KINDS, "container"))
        raise InfraError(f'there is no sandbox "{name}"; choose one of {names}')
    return _KINDS[name]()


_KINDS: dict[str, Callable[[], Sandbox]] = {
    "bwrap": find_bubblewrap,
    "landlock": find_landlock,
    "none": NoSandbox,
}
"""Strongest first."""


@cache
def _find_strongest() -> Sandbox:
    for find in _KINDS.values():
        with suppress(InfraError):
            return find()
    raise AssertionError("none works everywhere")
