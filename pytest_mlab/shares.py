"""What of the machine a trial gets, and what is said of it while it waits and runs."""

import dataclasses
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.activity import Activity, write_activity
from pytest_mlab.leases import lease
from pytest_mlab.resources import count_cores
from pytest_mlab.session import DEVICES, session_folder
from pytest_mlab.task import Task

ACTIVITY = pytest.StashKey[Activity]()
"""What an item's trial is at."""


def count_threads(task: Task) -> int:
    """Give the cores that a task asks for, else a trial's share of them.

    Libraries that use more than that slow all trials down.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return task.resources.cpus or max(1, count_cores() // workers)


@contextmanager
def hold_resources(item: pytest.Item, task: Task) -> Iterator[tuple[str, ...]]:
    """Hold what a task asks for of the machine, as soon as it is free, and give the devices."""
    devices: tuple[str, ...] = item.config.stash[DEVICES]

    def wait(lacks: frozenset[str]) -> None:
        note_activity(item, phase="waiting", since=time.monotonic(), lacks=tuple(sorted(lacks)))

    with lease(task.resources.demand(len(devices)), devices, wait) as held:
        note_activity(item, phase="acting", since=time.monotonic(), lacks=(), devices=held)
        yield held


def hold_devices(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Give a trial's devices; memory and cores are held too where a fixture names the devices."""
    request.getfixturevalue("mlab_lease")
    devices: tuple[str, ...] = request.getfixturevalue("mlab_gpu")
    return devices


def begin_activity(item: pytest.Item, folder: Path) -> None:
    """Let the controller know that this worker is at an item's trial now, recorded in a folder."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    item.stash[ACTIVITY] = Activity(worker=worker, nodeid=item.nodeid, folder=str(folder))
    note_activity(item)


def note_activity(item: pytest.Item, **changes: Any) -> None:
    """Let the controller know what an item's trial is at, where it is recorded at all."""
    activity = item.stash.get(ACTIVITY, None)
    if activity is not None:
        item.stash[ACTIVITY] = activity = dataclasses.replace(activity, **changes)
        write_activity(session_folder(item.config), activity)
