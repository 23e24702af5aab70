"""Control groups, which hold root to a number of processes; resource limits do not.

Where root runs us and may make groups, each command enters one, below the group that we are in
ourselves. Its folder stays locked for as long as our process lives, however that ends; a folder
that can be locked by another is of one that is gone, and is removed.
"""

import atexit
import fcntl
import os
import shlex
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from pytest_mlab.sandbox.view import View

_PREFIX = "pytest-mlab-"

# Processes that were killed leave their group a moment later than they are waited for.
_LEAVING_SECONDS = 2.0


def enter_group(view: View) -> str:
    """Give the line by which a shell enters a group that is held to a view's processes.

    The line is empty for an ordinary user, whom the resource limit holds, and where the kernel
    lets root make no groups, as in most containers.
    """
    if os.geteuid() != 0 or find_parent() is None:
        return ""
    return f"echo 0 >{shlex.quote(str(_take_group(view.processes) / 'cgroup.procs'))} || exit 125\n"


@cache
def find_parent() -> Path | None:
    """Give the folder of a group that we are in and can make others below, or None."""
    try:
        texts = [Path(f"/proc/self/{name}").read_text() for name in ("cgroup", "mountinfo")]
    except OSError:
        return None  # a kernel without control groups
    for parent in own_groups(*texts):
        with suppress(OSError):
            _sweep(parent)
            group = _make_group(parent, View.processes)
            enter = ["/bin/sh", "-c", 'echo 0 >"$0"', str(group / "cgroup.procs")]
            if subprocess.run(enter, capture_output=True, check=False).returncode == 0:
                _groups(View.processes).append(group)
                return parent
    return None


def own_groups(groups: str, mounts: str) -> Iterator[Path]:
    """Give the folders of our groups, in either version, that might count processes.

    `groups` and `mounts` are the texts of ``/proc/self/cgroup`` and ``/proc/self/mountinfo``.
    """
    for group in groups.splitlines():
        _, controllers, path = group.split(":", 2)
        if controllers and "pids" not in controllers.split(","):
            continue
        for mount in mounts.splitlines():
            place, _, what = mount.partition(" - ")
            system, _, options = what.split(" ", 2)
            if system == "cgroup2" if not controllers else "pids" in options.split(","):
                root, folder = place.split(" ")[3:5]
                # In a container without a namespace of groups, the mounted tree is not the whole.
                with suppress(ValueError):
                    yield Path(folder, Path(path).relative_to(root))


def _take_group(processes: int) -> Path:
    """Give a group that is empty: what a command leaves to run must not use up another's share."""
    groups = _groups(processes)
    for group in groups:
        if (group / "pids.current").read_text().strip() == "0":
            return group
    parent = find_parent()
    assert parent is not None
    groups.append(_make_group(parent, processes))
    return groups[-1]


@cache
def _groups(processes: int) -> list[Path]:
    """Give the list of the groups that were made for a limit, to be added to."""
    return []


def _make_group(parent: Path, processes: int) -> Path:
    while True:
        group = parent / f"{_PREFIX}{uuid.uuid4().hex}"
        group.mkdir()
        lock = os.open(group, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if group.exists():
            break
        os.close(lock)  # somebody took it for abandoned before it was locked
    atexit.register(_remove, group)
    if (parent / "cgroup.type").exists():
        # In version 2, a group with processes in it passes controllers on to such groups only.
        (group / "cgroup.type").write_text("threaded")
    if not (group / "pids.max").exists():
        (parent / "cgroup.subtree_control").write_text("+pids")
    (group / "pids.max").write_text(str(processes))
    return group


def _sweep(parent: Path) -> None:
    """Remove the groups of processes that are gone and did not come to do so themselves."""
    for group in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            lock = os.open(group, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                group.rmdir()
            finally:
                os.close(lock)


def _remove(group: Path) -> None:
    deadline = time.monotonic() + _LEAVING_SECONDS
    while group.exists():
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)
