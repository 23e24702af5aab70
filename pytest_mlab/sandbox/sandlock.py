"""Landlock and seccomp, by the library sandlock: for machines without user namespaces.

The library's ``chroot`` would give a ``/tmp`` and a ``/dev/shm`` of one's own, but its supervisor,
which no rule binds, then does the work of some system calls: in version 0.9 `link` reads and
`truncate` changes what must not be.
"""

import importlib.util
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import InfraError
from pytest_mlab.sandbox.interpreter import hidden_paths, interpreter_links, interpreter_paths
from pytest_mlab.sandbox.limits import limit_command
from pytest_mlab.sandbox.supervisor import supervise_command
from pytest_mlab.sandbox.trying import try_sandbox
from pytest_mlab.sandbox.view import View, allowed_environment

_READABLE = tuple(
    path
    for path in (
        *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/proc"),
        *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
        *("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"),
        *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
    )
    if Path(path).exists()
)
_READABLE_ONLINE = (
    *("/etc/ca-certificates", "/etc/crypto-policies", "/etc/hosts", "/etc/pki"),
    *("/etc/resolv.conf", "/etc/services", "/etc/ssl"),
)

_REMEDY = "it needs `pip install sandlock` and Linux 6.12 or newer with Landlock enabled"


class Sandlock:
    """Runs a command with a list of the files and system calls that it may use."""

    name = "sandlock"

    def __init__(self, library: str) -> None:
        self._library = library

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv` confined."""
        settings = {
            "library": self._library,
            "scratch": f"{tempfile.gettempdir()}/mlab-{uuid.uuid4().hex}",
            "options": _options(view),
        }
        return limit_command(supervise_command("sandlock", settings, argv), view, processes=False)

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment to start it with, which is the command's too."""
        return allowed_environment(view)


@cache
def find_sandlock() -> Sandlock:
    """Give the sandbox if its library is installed and works here."""
    found = importlib.util.find_spec("sandlock")
    reason = "the package sandlock is not installed"
    if found is not None and found.origin is not None:
        sandbox = Sandlock(str(Path(found.origin).parents[1]))
        reason = try_sandbox(sandbox)
        if not reason:
            return sandbox
    raise InfraError(f"the sandbox sandlock does not work here ({reason}): {_REMEDY}")


def _options(view: View) -> dict[str, Any]:
    readable = [*_READABLE, *map(str, interpreter_paths()), *map(str, interpreter_links())]
    options: dict[str, Any] = {
        "cwd": str(view.writable),
        "fs_readable": readable + [str(path) for path in view.readable],
        "fs_writable": [str(view.writable), "/dev/null"],
        "fs_denied": [str(path) for path in _denied_paths(hidden_paths(view), view)],
        "max_processes": view.processes,
    }
    if view.network:
        options["fs_readable"] += [path for path in _READABLE_ONLINE if Path(path).exists()]
        options |= {"net_allow": ["tcp://*:*", "udp://*:*"], "net_allow_bind": ["*"]}
    if view.gpus:
        devices = view.environment["CUDA_VISIBLE_DEVICES"].split(",")
        options["gpu_devices"] = [int(device) for device in devices if device.isdigit()]
    return options


def _denied_paths(paths: Iterable[Path], view: View) -> Iterator[Path]:
    """Go into a hidden folder where something in it is to be seen: here, what is denied wins."""
    for path in paths:
        if any(path in shown.parents for shown in view.readable):
            yield from _denied_paths(path.iterdir(), view)
        elif path not in view.readable:
            yield path
