"""What each worker is at, written down for the controller to show; a file a worker.

What an agent does is in its trial's trace. This is what goes before: whose turn it is, what it
still waits for, and which devices it has.
"""

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from pytest_mlab.files import write_atomically

FOLDER = "workers"
"""In a session's folder, as long as the session lasts."""

Phase = Literal["preparing", "waiting", "acting"]


@dataclass(frozen=True, kw_only=True)
class Activity:
    """One trial in one worker: the last one that it has begun.

    ``since`` is when its phase began, on the clock that all of a machine's processes share.
    """

    worker: str
    nodeid: str
    folder: str
    phase: Phase = "preparing"
    since: float = field(default_factory=time.monotonic)
    lacks: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    metric: str = ""
    max_steps: int = 0


def write_activity(session: Path, activity: Activity) -> None:
    """Say what a worker is at; it replaces what was said before."""
    write_atomically(session / FOLDER / f"{activity.worker}.json", json.dumps(asdict(activity)))


def read_activities(session: Path) -> Iterator[Activity]:
    """Give what the workers of a session have said last."""
    for file in sorted((session / FOLDER).glob("*.json")):
        record = json.loads(file.read_text(encoding="utf-8"))
        yield Activity(
            **record | {key: tuple(record[key]) for key in ("lacks", "devices")},
        )


def remove_activities(session: Path) -> None:
    """Remove what was said, at the end of a session."""
    shutil.rmtree(session / FOLDER, ignore_errors=True)
