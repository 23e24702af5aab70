"""Resource limits, set by a shell that then becomes the command."""

import platform
import re
import resource
from collections.abc import Sequence
from pathlib import Path

from pytest_mlab.sandbox.view import View

COUNTS_APART = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (5, 14)
"""Whether the kernel counts the processes of a user namespace apart from its user's others."""

# Out of memory, the kernel takes the sandbox before it takes pytest; a debugger's core files would
# fill the disk.
_ALWAYS = "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; ulimit -c 0"

# Memory is what a process may write to (RLIMIT_DATA). RLIMIT_AS would count reservations too, of
# which CUDA and JAX make many times the machine's memory.
_OPTIONS = {
    resource.RLIMIT_DATA: ("ulimit -d {}", 1024),
    resource.RLIMIT_FSIZE: ("ulimit -f {}", 512),
    resource.RLIMIT_NOFILE: ("ulimit -n {}", 1),
    # dash and busybox say -p, bash says -u.
    resource.RLIMIT_NPROC: ("{{ ulimit -u {0} 2>/dev/null || ulimit -p {0}; }}", 1),
}


def limit_command(argv: Sequence[str], view: View, *, apart: bool, enter: str = "") -> list[str]:
    """Give the command line that runs another one within a view's limits.

    The kernel counts all processes of a user together, except in a user namespace of one's own:
    `apart` says that there is one. Without, the limit leaves room for what runs already. `enter` is
    a line that the shell is to execute first, of those that `enter_group` gives.
    """
    wanted = {
        resource.RLIMIT_DATA: int(view.memory_gb * 2**30),
        resource.RLIMIT_FSIZE: int(view.file_gb * 2**30),
        resource.RLIMIT_NOFILE: view.open_files,
        resource.RLIMIT_NPROC: view.processes + (0 if apart else count_running_threads()),
    }
    script = [_ALWAYS]
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        command, unit = _OPTIONS[kind]
        script.append(command.format(bound // unit))
    return ["/bin/sh", "-c", f'{enter}{" && ".join(script)} && exec "$@"', "sh", *argv]


def count_running_threads() -> int:
    """Give the number of threads of all users."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
