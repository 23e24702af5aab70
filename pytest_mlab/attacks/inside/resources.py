"""Using up the machine: a little more than is allowed, and no more than shows that it can be."""

import contextlib
import mmap
import os
import threading
from collections.abc import Iterator

from pytest_mlab.attacks.inside.making import Attack, Config

THREADS_EACH = 128
STACK_BYTES = 1 << 16
_MAP_NORESERVE = 0x4000


def multiply_without_end(config: Config) -> Iterator[str]:
    """Start processes that start threads, up to a little too many, and give their number.

    They wait for the end of a pipe that this process alone holds open, so that all end with it.
    """
    counts, to_count = os.pipe()
    over, hold = os.pipe()
    threading.stack_size(STACK_BYTES)
    children = 0
    with contextlib.suppress(OSError):
        for _ in range(-(-config["processes"] // THREADS_EACH)):
            if os.fork() == 0:
                os.close(hold)
                _start_threads(over, to_count)
            children += 1
    total = sum(int(os.read(counts, 4)) for _ in range(children))
    os.close(hold)
    for _ in range(children):
        os.wait()
    yield str(total)


def _start_threads(over: int, to_count: int) -> None:
    started = 1
    try:
        with contextlib.suppress(RuntimeError, MemoryError):
            while started < THREADS_EACH:
                threading.Thread(target=os.read, args=(over, 1), daemon=True).start()
                started += 1
        os.write(to_count, b"%4d" % started)
        os.read(over, 1)
    finally:
        os._exit(0)


def ask_for_too_much_memory(config: Config) -> Iterator[str]:
    """Ask for it in one piece, and write to its last page only."""
    size = config["memory"]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    with contextlib.suppress(OSError), mmap.mmap(-1, size, flags=flags) as memory:
        memory[-1] = 1
        yield str(size)


def write_too_large_a_file(config: Config) -> Iterator[str]:
    """Write its last byte only, which takes one block of the disk."""
    file = os.open(config["vast"], os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        os.pwrite(file, b"x", config["file_size"])
    os.close(file)
    return iter(())


ATTACKS: tuple[Attack, ...] = (
    multiply_without_end,
    ask_for_too_much_memory,
    write_too_large_a_file,
)
