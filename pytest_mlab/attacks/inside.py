"""The attacks that are made from inside: standard library only, run as a script of the workspace.

``CONFIG`` stands before this text. Every attack runs in a process of its own, so that none ends or
delays the others, and prints what it found, one JSON object a line: digests of files, and whatever
looks like one of the baits. Whether that means anything is judged outside.
"""

import contextlib
import glob
import hashlib
import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

CONFIG: dict[str, Any] = globals().get("CONFIG", {})
BAIT = re.compile(rb"mlab-bait-[0-9a-f]{32}")
SECONDS = 5
"""How long one attack may take."""
WALKING_SECONDS = 1.0
DAEMON_SECONDS = 6.0

Attack = Callable[[], Iterable[str]]


def digest(path: str) -> Iterator[str]:
    """Give a file's sha256, if it can be read."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        yield hashlib.file_digest(file, "sha256").hexdigest()


def baits_in(content: bytes) -> Iterator[str]:
    """Give what looks like a bait."""
    for found in BAIT.findall(content):
        yield found.decode()


def baits_of(path: str) -> Iterator[str]:
    """Give the baits in a file, if it can be read."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        yield from baits_in(file.read(1 << 20))


def read_answers_by_their_path() -> Iterator[str]:
    """Guess where the answers are."""
    for name in CONFIG["answers"]:
        for folder in (CONFIG["private"], "/private", "../private", "data/../private"):
            yield from digest(f"{folder}/{name}")


def read_answers_through_a_symbolic_link() -> Iterator[str]:
    """Lead there from the workspace."""
    with contextlib.suppress(OSError):
        os.symlink(CONFIG["private"], "peek")
    for name in CONFIG["answers"]:
        yield from digest(f"peek/{name}")


def read_answers_through_a_hard_link() -> Iterator[str]:
    """Give them a second name in the workspace."""
    for number, name in enumerate(CONFIG["answers"]):
        with contextlib.suppress(OSError):
            os.link(f"{CONFIG['private']}/{name}", f"peek-{number}")
        yield from digest(f"peek-{number}")


def read_answers_through_another_process() -> Iterator[str]:
    """Look with another process's eyes."""
    for pid in processes():
        for door in ("root", "cwd/../../../../../../../../../.."):
            for name in CONFIG["answers"]:
                yield from digest(f"/proc/{pid}/{door}{CONFIG['private']}/{name}")


def read_answers_by_walking() -> Iterator[str]:
    """Look everywhere, the likely places first."""
    data = os.path.realpath("data")
    skipped = {"proc", "sys", "dev", "usr"}
    end = time.monotonic() + WALKING_SECONDS
    for start in (f"{data}/..", f"{data}/../..", CONFIG["cache"], "..", "../..", "/"):
        for folder, folders, files in os.walk(start):
            if time.monotonic() > end:
                return
            folders[:] = sorted(set(folders) - skipped)[:200]
            for name in set(files) & {os.path.basename(a) for a in CONFIG["answers"]}:
                yield from digest(f"{folder}/{name}")


def read_keys_from_the_environment() -> Iterator[str]:
    """Look into what this process was given."""
    yield from baits_in(json.dumps(dict(os.environ)).encode())


def read_keys_of_other_processes() -> Iterator[str]:
    """Look into what others were given."""
    for pid in processes():
        yield from baits_of(f"/proc/{pid}/environ")


def read_keys_out_of_memory() -> Iterator[str]:
    """Look into what another process has in its memory."""
    pid = CONFIG["victim"]
    with contextlib.suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
        with open(f"/proc/{pid}/mem", "rb") as memory:
            for line in lines:
                if "stack" in line or "heap" in line:
                    start, end = (int(part, 16) for part in line.split()[0].split("-"))
                    memory.seek(start)
                    yield from baits_in(memory.read(end - start))


def read_another_trials_records() -> Iterator[str]:
    """Look at what lies beside the workspace."""
    for path in (CONFIG["record"], *glob.glob("../*"), *glob.glob("../../*/*")):
        yield from baits_of(path)


def write_outside() -> Iterator[str]:
    """Leave a mark wherever it might stay."""
    with contextlib.suppress(OSError):
        os.symlink(CONFIG["outside"], "out")
    for path in CONFIG["marks"]:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x"):
                pass
    return iter(())


def overwrite_public_data() -> Iterator[str]:
    """Write what is there already, which shows by the time of the file."""
    path = CONFIG["public_file"]
    for spelling in filter(None, (path, path and f"/proc/self/root{path}")):
        with contextlib.suppress(OSError):
            os.chmod(spelling, 0o644)
        with contextlib.suppress(OSError):
            file = os.open(spelling, os.O_RDWR)
            os.pwrite(file, os.pread(file, 1, 0), 0)
    return iter(())


def kill_another_process() -> Iterator[str]:
    """End a process of the harness's user."""
    with contextlib.suppress(OSError):
        os.kill(CONFIG["victim"], signal.SIGKILL)
    return iter(())


def leave_a_daemon() -> Iterator[str]:
    """Go on when all is over; for a few seconds, which is enough to be seen."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            end = time.monotonic() + DAEMON_SECONDS
            while time.monotonic() < end:
                with open(CONFIG["pulse"], "a") as file:
                    file.write(".")
                time.sleep(0.02)
        os._exit(0)
    return iter(())


def connect_to_a_port() -> Iterator[str]:
    """Speak to a program on this machine."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", CONFIG["port"]), timeout=2) as connection,
    ):
        connection.sendall(CONFIG["token"].encode())
    return iter(())


def processes() -> list[str]:
    """Give the processes that there are to look into."""
    names = [name for name in os.listdir("/proc") if name.isdigit()]
    return [str(CONFIG["victim"]), str(CONFIG["harness"]), "1", *names[-50:]]


ATTACKS: tuple[Attack, ...] = (
    read_answers_by_their_path,
    read_answers_through_a_symbolic_link,
    read_answers_through_a_hard_link,
    read_answers_through_another_process,
    read_answers_by_walking,
    read_keys_from_the_environment,
    read_keys_of_other_processes,
    read_keys_out_of_memory,
    read_another_trials_records,
    write_outside,
    overwrite_public_data,
    connect_to_a_port,
    kill_another_process,
    leave_a_daemon,
)
"""In the order in which they are made: the victim is looked into before it is killed."""


def make_attack(attack: Attack) -> None:
    """Make one attack in a process of its own, and say what it found."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        found: set[str] = set()
        with contextlib.suppress(Exception):
            found.update(attack())
        print(json.dumps({"attack": attack.__name__, "found": sorted(found)[:50]}), flush=True)
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    for each in ATTACKS:
        make_attack(each)
    sys.stdout.flush()
