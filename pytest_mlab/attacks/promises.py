"""Which attacks a sandbox does not promise to stop, as docs/sandbox.md says."""

import os

from pytest_mlab.sandbox.cgroup import find_parent
from pytest_mlab.task import Task

_NETWORK = (
    "connect_to_a_port",
    "send_a_datagram",
    "connect_to_an_abstract_socket",
    "find_a_way_to_the_network",
)


def is_promised(attack: str, sandbox: str, task: Task) -> bool:
    """Tell whether an attack must not work in a sandbox on a task."""
    if task.resources.network and attack in _NETWORK:
        return False
    if attack == "multiply_without_end":
        # Only control groups hold root to a number of processes.
        return sandbox == "container" or os.geteuid() != 0 or find_parent() is not None
    # An engine limits the memory that is written to, not what is asked for.
    return not (attack == "ask_for_too_much_memory" and sandbox == "container")
