"""A place with something to steal, and a way of trying to steal it from inside a sandbox."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import Completed, run_command
from pytest_mlab.sandbox import Sandbox, View, find_sandbox
from tests.sandbox.engines import Engine, find_engine

SECRET = "the-hidden-label"

CONTAINER = pytest.param("container", marks=[pytest.mark.container, pytest.mark.slow])
"""The kind that needs an engine, where tests are parametrized by kinds."""


@dataclass(frozen=True)
class Place:
    """A trial's workspace, its public data, and the folder that nobody in there may see."""

    root: Path
    workspace: Path
    public: Path
    private: Path

    @property
    def secret(self) -> Path:
        """The file that holds `SECRET`."""
        return self.private / "labels.csv"

    def view(self, **options: Any) -> View:
        """Give the view an agent has of it."""
        return View(writable=self.workspace, readable=(self.public,), **options)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = tmp_path.resolve()
    place = Place(root, root / "trial" / "workspace", root / "data/public", root / "data/private")
    for folder in (place.workspace, place.public, place.private):
        folder.mkdir(parents=True)
    place.secret.write_text(SECRET)
    (place.public / "train.csv").write_text("public")
    (place.workspace / "data").symlink_to(place.public)
    return place


def get_engine() -> Engine:
    """Give an engine that runs containers, or skip the test where this machine has none."""
    engine = find_engine()
    if isinstance(engine, str):
        pytest.skip(engine)
    return engine


def get_sandbox(kind: str) -> Sandbox:
    """Give a sandbox, or skip the test where this machine has none of its kind."""
    if kind == "container":
        return get_engine().sandbox
    try:
        return find_sandbox(kind)
    except InfraError as error:
        pytest.skip(str(error))


# What it finds, an attack does not print: with no sandbox, it reads what is nobody's business.
_PRELUDE = f"""
import os, sys
def look(content):
    content = content if isinstance(content, bytes) else content.encode()
    if {SECRET[::-1]!r}[::-1].encode() in content:
        print("found")
"""

Attack = Callable[..., Completed]


@pytest.fixture
def attack(place: Place) -> Attack:
    """Run a Python script in a sandbox of a kind; its arguments arrive in ``sys.argv``."""

    def run(
        kind: str, script: str, *arguments: object, seconds: float = 30, **options: Any
    ) -> Completed:
        sandbox, view = get_sandbox(kind), place.view(**options)
        argv = [sys.executable, "-c", f"{_PRELUDE}\n{script}", *map(str, arguments)]
        return run_command(
            sandbox.command(argv, view),
            cwd=view.writable,
            environment=sandbox.environment(view),
            seconds=seconds,
            drain_seconds=sandbox.drain_seconds,
        )

    return run


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process like pytest's own, with a key in its environment and in its memory."""
    script = "import os, time; key = os.environ['OPENAI_API_KEY'] * 2; print(1, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{script}; time.sleep(600)"],
        env={**os.environ, "OPENAI_API_KEY": SECRET},
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def grows(file: Path, seconds: float = 0.5) -> bool:
    """Tell whether something goes on writing to a file."""
    before = file.stat().st_size
    time.sleep(seconds)
    return file.stat().st_size > before
