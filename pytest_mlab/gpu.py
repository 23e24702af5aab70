"""Devices: which there are, and which of their names mean the same one."""

import itertools
import os
import re
import subprocess
from collections.abc import Sequence

_LISTED = re.compile(r"GPU (\d+):.*\(UUID: (GPU-[\w-]+)\)|\s+MIG .*\(UUID: (MIG-[\w/-]+)\)")


def find_devices(choice: str) -> tuple[str, ...]:
    """Give the device ids that ``--mlab-gpus`` means: ``auto``, ``none`` or ids with commas.

    ``auto`` honours ``CUDA_VISIBLE_DEVICES`` and otherwise asks the driver; of a GPU that is cut
    into MIG devices, these are listed.
    """
    if choice == "none":
        return ()
    if choice != "auto":
        return _split(choice)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        # Of what follows an id that does not exist, CUDA sees nothing; -1 is such an id.
        return tuple(itertools.takewhile(lambda device: device != "-1", _split(visible)))
    return tuple(_ask_driver())


def identify(devices: Sequence[str]) -> dict[str, str]:
    """Give devices by a name that each has in every session: its UUID, where the driver says it.

    One session may call "0" what another calls "GPU-8932f937"; a UUID may be cut short.
    """
    listed = _ask_driver()
    uuids = dict.fromkeys(listed.values())
    return {
        listed.get(device)
        or next((uuid for uuid in uuids if uuid.startswith(device)), device): device
        for device in devices
    }


def _split(ids: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(str.strip, ids.split(",")))))


def _ask_driver() -> dict[str, str]:
    """Give the UUIDs of devices by the ids that CUDA takes."""
    try:
        run = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    found: dict[str, str] = {}
    parent = ""
    for index, uuid, mig in _LISTED.findall(run.stdout):
        if mig:
            found.pop(parent, None)
            found[mig] = mig
        else:
            parent = index
            found[index] = uuid
    return found
