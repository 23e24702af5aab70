"""Getting at the hidden answers, at keys and at what others have recorded."""

import contextlib
import ctypes
import glob
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator

from pytest_mlab.attacks.inside.making import Attack, Config

BAIT = re.compile(rb"mlab-bait-[0-9a-f]{32}")
WALKING_SECONDS = 1.0
_PTRACE_SEIZE = 0x4206


def read_answers_by_their_path(config: Config) -> Iterator[str]:
    """Guess where the answers are."""
    for name in config["answers"]:
        for folder in (config["private"], "/private", "../private", "data/../private"):
            yield from _digest(f"{folder}/{name}")


def read_answers_through_a_symbolic_link(config: Config) -> Iterator[str]:
    """Lead there from the workspace."""
    with contextlib.suppress(OSError):
        os.symlink(config["private"], "peek")
    for name in config["answers"]:
        yield from _digest(f"peek/{name}")


def read_answers_through_a_hard_link(config: Config) -> Iterator[str]:
    """Give them a second name in the workspace."""
    for number, name in enumerate(config["answers"]):
        with contextlib.suppress(OSError):
            os.link(f"{config['private']}/{name}", f"peek-{number}")
        yield from _digest(f"peek-{number}")


def read_answers_through_another_process(config: Config) -> Iterator[str]:
    """Look with another process's eyes."""
    for pid in _processes(config):
        for door in ("root", "cwd/../../../../../../../../../.."):
            for name in config["answers"]:
                yield from _digest(f"/proc/{pid}/{door}{config['private']}/{name}")


def read_answers_by_walking(config: Config) -> Iterator[str]:
    """Look everywhere, the likely places first."""
    data = os.path.realpath("data")
    skipped = {"proc", "sys", "dev", "usr"}
    end = time.monotonic() + WALKING_SECONDS
    for start in (f"{data}/..", f"{data}/../..", config["cache"], "..", "../..", "/"):
        for folder, folders, files in os.walk(start):
            if time.monotonic() > end:
                return
            folders[:] = sorted(set(folders) - skipped)[:200]
            for name in set(files) & {os.path.basename(a) for a in config["answers"]}:
                yield from _digest(f"{folder}/{name}")


def read_keys_from_the_environment(config: Config) -> Iterator[str]:
    """Look into what this process was given."""
    yield from _baits_in(json.dumps(dict(os.environ)).encode())


def read_keys_of_other_processes(config: Config) -> Iterator[str]:
    """Look into what others were given."""
    for pid in _processes(config):
        yield from _baits_of(f"/proc/{pid}/environ")


def read_keys_out_of_memory(config: Config) -> Iterator[str]:
    """Look into what another process has in its memory."""
    yield from _baits_in_memory(config["victim"])


def read_keys_as_a_debugger(config: Config) -> Iterator[str]:
    """Trace another process, which lets go of it again when this one ends, and look into it."""
    if ctypes.CDLL(None).ptrace(_PTRACE_SEIZE, config["victim"], None, None) == 0:
        yield from _baits_in_memory(config["victim"])


def read_another_trials_records(config: Config) -> Iterator[str]:
    """Look at what lies beside the workspace."""
    for path in (config["record"], *glob.glob("../*"), *glob.glob("../../*/*")):
        yield from _baits_of(path)


ATTACKS: tuple[Attack, ...] = (
    read_answers_by_their_path,
    read_answers_through_a_symbolic_link,
    read_answers_through_a_hard_link,
    read_answers_through_another_process,
    read_answers_by_walking,
    read_keys_from_the_environment,
    read_keys_of_other_processes,
    read_keys_out_of_memory,
    read_keys_as_a_debugger,
    read_another_trials_records,
)


def _digest(path: str) -> Iterator[str]:
    """Give a file's sha256, if it can be read."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        yield hashlib.file_digest(file, "sha256").hexdigest()


def _baits_in(content: bytes) -> Iterator[str]:
    """Give what looks like a bait."""
    for found in BAIT.findall(content):
        yield found.decode()


def _baits_of(path: str) -> Iterator[str]:
    """Give the baits in a file, if it can be read."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        yield from _baits_in(file.read(1 << 20))


def _baits_in_memory(pid: int) -> Iterator[str]:
    """Give the baits in another process's stack and heap, if they can be read."""
    with (
        contextlib.suppress(OSError, ValueError),
        open(f"/proc/{pid}/maps") as maps,
        open(f"/proc/{pid}/mem", "rb") as memory,
    ):
        for line in maps:
            if "stack" in line or "heap" in line:
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                memory.seek(start)
                yield from _baits_in(memory.read(end - start))


def _processes(config: Config) -> list[str]:
    """Give the processes that there are to look into."""
    names = [name for name in os.listdir("/proc") if name.isdigit()]
    return [str(config["victim"]), str(config["harness"]), "1", *names[-50:]]
