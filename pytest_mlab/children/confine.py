"""Confining this process for good, by Landlock and by a filter of its system calls."""

import ctypes
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

# The same numbers on all machines.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_ALL = (1 << 16) - 1
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
# Devices are not for making, nor their drivers for talking to.
_WRITE = _ALL & ~(1 << 6 | 1 << 11 | _IOCTL_DEVICE)
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 3

# The version in Linux 6.12, the first that keeps signals in.
_NEEDED = 6

_PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 38, 24
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2

_libc = ctypes.CDLL(None, use_errno=True)


class _RulesetAttr(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneathAttr(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrict_files(
    readable: Iterable[str],
    writable: Iterable[str],
    listable: Iterable[str],
    devices: Iterable[str],
    hidden: Iterable[str],
) -> None:
    """Let this process and its children open nothing but what is named, and signal no others.

    What is listable shows its names and those in its folders, and no more; so does what is hidden
    within something readable. Devices are those whose drivers may be talked to.
    """
    version = _libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < _NEEDED:
        raise OSError(f"Landlock has version {max(version, 0)} here; version {_NEEDED} is needed")
    attributes = _RulesetAttr(_ALL, 0, _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    ruleset = _call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    covered = {Path(path) for path in hidden}
    for name in readable:
        for path, access in _read_rules(Path(name), covered):
            _allow(ruleset, path, access)
    for name in writable:
        _allow(ruleset, Path(name), _WRITE)
    for name in listable:
        _allow(ruleset, Path(name), _READ_DIR)
    for name in devices:
        _allow(ruleset, Path(name), _READ | _WRITE_FILE | _IOCTL_DEVICE)
    set_process(_PR_SET_NO_NEW_PRIVS, 1)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _read_rules(path: Path, hidden: set[Path]) -> Iterator[tuple[Path, int]]:
    """A rule holds for all below; so around something hidden, there is one for each neighbour.

    Links among them need none, and one that leads back, as ``lib64`` does, would open it again.
    """
    if not any(path in covered.parents for covered in hidden):
        yield path, _READ
        return
    yield path, _READ_DIR
    for child in path.iterdir():
        if child not in hidden and not child.is_symlink():
            yield from _read_rules(child, hidden)


def _allow(ruleset: int, path: Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            access &= _OF_FILES
        rule = _PathBeneathAttr(access, descriptor)
        _call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


def filter_calls(program: bytes) -> None:
    """Let this process and its children make only the system calls that a program allows."""
    filter_program = _FilterProgram(len(program) // 8, program)
    set_process(_PR_SET_NO_NEW_PRIVS, 1)
    set_process(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(filter_program))


def drop_capabilities() -> None:
    """Leave root no more than its name, from the next program on."""
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        set_process(_PR_CAPBSET_DROP, capability)


def set_process(option: int, *values: int) -> None:
    """Call ``prctl``."""
    arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if _libc.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
