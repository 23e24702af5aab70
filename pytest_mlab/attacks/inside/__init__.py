"""The attacks that are made from inside: standard library only, laid into a workspace to be run.

What they give are digests of files, whatever looks like one of the baits, and how much they got of
what is limited. Whether that means anything is judged outside.
"""

from pytest_mlab.attacks.inside import litter, processes, reading, resources, sockets, writing
from pytest_mlab.attacks.inside.making import Attack

INTRUSIONS: tuple[Attack, ...] = (
    *reading.ATTACKS,
    *writing.ATTACKS,
    *sockets.ATTACKS,
    *processes.ATTACKS,
    *resources.ATTACKS,
    processes.leave_a_daemon,
)
"""In the order in which they are made: the victim is looked into before it is killed."""

LITTER: tuple[Attack, ...] = litter.ATTACKS
"""What is left for others to come upon."""

ATTACKS: tuple[Attack, ...] = (*INTRUSIONS, *LITTER)
