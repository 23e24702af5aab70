"""Devices: which there are, and leases on them between processes.

A lease is a lock on a file of the device's name, which the system drops when its holder dies, so
that workers killed in mid-trial lose no device and two sessions on one machine share.
"""

import itertools
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock, Timeout

from pytest_mlab.exceptions import Unavailable

_PAUSE = 0.1


def find_devices(choice: str) -> tuple[str, ...]:
    """Give the device ids that ``--mlab-gpus`` means: ``auto``, ``none`` or ids with commas.

    ``auto`` honours ``CUDA_VISIBLE_DEVICES`` and otherwise asks the driver.
    """
    if choice == "none":
        return ()
    if choice != "auto":
        return _split(choice)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        # Of what follows an id that does not exist, CUDA sees nothing; -1 is such an id.
        return tuple(itertools.takewhile(lambda device: device != "-1", _split(visible)))
    return _ask_driver()


def _split(ids: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(str.strip, ids.split(",")))))


def _ask_driver() -> tuple[str, ...]:
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(run.stdout.split())


@contextmanager
def lease_devices(count: int, devices: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Wait until ``count`` of the devices are free and hold them; all of them or none.

    Raises `Unavailable` where there are fewer devices than asked for.
    """
    if count > len(devices):
        raise Unavailable(
            f"needs {count} GPU(s), and there are {len(devices)}; "
            "run where there are more, or name them with --mlab-gpus"
        )
    while True:
        with ExitStack() as stack:
            held = _take_free(count, devices, stack)
            if len(held) == count:
                yield held
                return
        time.sleep(_PAUSE)


def _take_free(count: int, devices: tuple[str, ...], stack: ExitStack) -> tuple[str, ...]:
    held: list[str] = []
    for device in devices:
        if len(held) == count:
            break
        try:
            lock = FileLock(_lock_folder() / f"{quote(device, safe='')}.lock", mode=0o666)
            stack.enter_context(lock.acquire(0))
        except Timeout:
            continue
        held.append(device)
    return tuple(held)


def _lock_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / "pytest-mlab-gpus"
    folder.mkdir(exist_ok=True)
    with suppress(PermissionError):
        folder.chmod(0o777)  # another user's sessions share the devices
    return folder
