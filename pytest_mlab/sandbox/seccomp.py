"""Filters of system calls, for what neither namespaces nor Landlock take away.

A program reads the number of a call and, for `socket`, its first argument, and says whether the
kernel is to do it. The numbers are from the kernel's tables, for x86-64 and for 64-bit Arm.
"""

import errno
import platform
import struct
from collections.abc import Sequence

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_SOCKET = (41, 198)

# A process inherits its session's keyring, and the keys in it; the others are known ways into the
# kernel, or, as the ring, ways around such a filter.
DANGEROUS = {
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}

# Memory and messages that all processes of a user share, where they share a namespace.
SHARED = {
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "unshare": (272, 97),
    "setns": (308, 268),
}

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT, _ARGUMENT_AT = 0, 4, 16
_OTHER_TABLE = 0x40000000  # x86-64 has a second set of numbers, for its 32-bit pointers
_ENDS = {
    "allow": 0x7FFF0000,
    "absent": 0x00050000 | errno.ENOSYS,  # as if the kernel had no such call: libraries do without
    "deny": 0x00050000 | errno.EACCES,
}

_Instruction = tuple[int, str, str, int]
"""Code, where to jump if true and if not (empty: to the next), value."""


def filter_program(
    refused: dict[str, tuple[int, int]], families: Sequence[int] | None = None
) -> bytes | None:
    """Give the program that refuses some calls, and sockets of other families than those given.

    Gives None where the machine's tables are not known.
    """
    if platform.machine() not in _MACHINES:
        return None
    machine, column = _MACHINES[platform.machine()]
    program: list[_Instruction] = [
        (_LOAD, "", "", _MACHINE_AT),
        (_EQUAL, "", "absent", machine),
        (_LOAD, "", "", _NUMBER_AT),
        (_AT_LEAST, "absent", "", _OTHER_TABLE),
        *((_EQUAL, "absent", "", numbers[column]) for numbers in refused.values()),
    ]
    if families is not None:
        program += [
            (_EQUAL, "", "allow", _SOCKET[column]),
            (_LOAD, "", "", _ARGUMENT_AT),
            *((_EQUAL, "allow", "", family) for family in families),
            (_RETURN, "", "", _ENDS["deny"]),
        ]
    program += [(_RETURN, "", "", value) for value in _ENDS.values()]
    first_end = len(program) - len(_ENDS)
    ends = {name: first_end + position for position, name in enumerate(_ENDS)}

    def distance(position: int, target: str) -> int:
        return ends[target] - position - 1 if target else 0

    return b"".join(
        struct.pack("=HBBI", code, distance(at, true), distance(at, false), value)
        for at, (code, true, false, value) in enumerate(program)
    )
