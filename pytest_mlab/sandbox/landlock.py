"""A list of files that may be opened, by Landlock: for machines without user namespaces."""

import socket
import tempfile
import uuid
from collections.abc import Sequence
from functools import cache

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import DRAIN_SECONDS
from pytest_mlab.sandbox.cgroup import enter_group
from pytest_mlab.sandbox.interpreter import hidden_paths, interpreter_links, interpreter_paths
from pytest_mlab.sandbox.limits import limit_command
from pytest_mlab.sandbox.seccomp import DANGEROUS, SHARED, filter_program
from pytest_mlab.sandbox.supervisor import supervise_command
from pytest_mlab.sandbox.trying import try_sandbox
from pytest_mlab.sandbox.view import View, allowed_environment, gpu_devices

_READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
    # Of the processes there, its own first one.
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg"),
    *("/proc/uptime", "/proc/version", "/proc/filesystems", "/proc/sys", "/sys/devices/system"),
)
_READABLE_ONLINE = (
    *("/etc/ca-certificates", "/etc/crypto-policies", "/etc/hosts", "/etc/pki"),
    *("/etc/resolv.conf", "/etc/services", "/etc/ssl"),
)

_ONLINE = (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)


class Landlock:
    """Runs a command with a list of the files that it may open; it makes no sockets."""

    name = "landlock"
    inherits = True
    drain_seconds = DRAIN_SECONDS

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv` confined."""
        readable = [*_READABLE, *interpreter_paths(), *interpreter_links(), *view.readable]
        writable = [view.writable, "/dev/null"]
        if view.network:
            readable += _READABLE_ONLINE
        if view.gpus:
            readable += ("/sys", "/proc/driver")
        # Landlock does not look at sockets that are files: whoever listens there, as the session's
        # bus does, might run a program for it.
        program = filter_program(DANGEROUS | SHARED, _ONLINE if view.network else ())
        settings = {
            "readable": [str(path) for path in readable],
            "writable": [str(path) for path in writable],
            # Python imports nothing out of a folder that it cannot list.
            "listable": [p for p in view.environment.get("PYTHONPATH", "").split(":") if p],
            "devices": gpu_devices() if view.gpus else [],
            "hidden": [str(path) for path in hidden_paths(view)],
            "filter": program.hex() if program is not None else None,
            "scratch": f"{tempfile.gettempdir()}/mlab-{uuid.uuid4().hex}",
        }
        supervised = supervise_command("landlock", settings, argv)
        return limit_command(supervised, view, apart=False, enter=enter_group(view))

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment to start it with, which is the command's too."""
        return allowed_environment(view)


@cache
def find_landlock() -> Landlock:
    """Give the sandbox if it works here."""
    if filter_program(DANGEROUS) is None:
        raise InfraError(
            "the sandbox landlock does not work here: the numbers of this machine's system calls "
            "are not known; use bwrap"
        )
    reason = try_sandbox(sandbox := Landlock())
    if reason:
        raise InfraError(
            f"the sandbox landlock does not work here ({reason}): it needs Linux 6.12 or newer, "
            "with Landlock among the security modules that the kernel was started with"
        )
    return sandbox
