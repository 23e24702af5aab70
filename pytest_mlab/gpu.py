"""Devices: which there are, and leases on them between processes.

A lease is a lock on a file of the device's name, which the system drops when its holder dies, so
that workers killed in mid-trial lose no device and two sessions on one machine share.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

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
        return tuple(filter(None, map(str.strip, choice.split(","))))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return tuple(filter(None, map(str.strip, visible.split(","))))
    return _ask_driver()


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
            stack.enter_context(FileLock(_lock_folder() / f"{device}.lock", mode=0o666).acquire(0))
        except Timeout:
            continue
        held.append(device)
    return tuple(held)


def _lock_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / "pytest-mlab-gpus"
    folder.mkdir(exist_ok=True)
    return folder
