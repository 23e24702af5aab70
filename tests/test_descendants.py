"""What a child leaves running is ended, and nothing else is."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mlab import descendants
from pytest_mlab.descendants import StillRunning, adopted_orphans, closed_memory

DAEMON = """
import os, sys, time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1] + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[1] + ".new", sys.argv[1])
        time.sleep(60)
    os._exit(0)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
"""
SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except FileNotFoundError:
        return None


def test_a_daemon_of_a_child_is_killed(tmp_path: Path) -> None:
    with adopted_orphans():
        subprocess.run([sys.executable, "-c", DAEMON, tmp_path / "pid"], check=True)
        daemon = int((tmp_path / "pid").read_text())
        assert parent_of(daemon) is not None
    assert parent_of(daemon) is None


def test_also_when_the_block_is_left_by_an_exception(tmp_path: Path) -> None:
    script = f"{DAEMON}\nsys.exit(1)"
    with pytest.raises(subprocess.CalledProcessError), adopted_orphans():
        subprocess.run([sys.executable, "-c", script, tmp_path / "pid"], check=True)
    assert parent_of(int((tmp_path / "pid").read_text())) is None


def test_children_from_before_are_left_alone() -> None:
    with subprocess.Popen(SLEEPER) as sleeper:
        with adopted_orphans():
            pass
        assert sleeper.poll() is None
        sleeper.kill()


def test_orphans_are_not_adopted_afterwards(tmp_path: Path) -> None:
    with adopted_orphans():
        pass
    subprocess.run([sys.executable, "-c", DAEMON, tmp_path / "pid"], check=True)
    daemon = int((tmp_path / "pid").read_text())
    try:
        assert parent_of(daemon) not in {None, os.getpid()}
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_killing_that_does_not_come_to_an_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(descendants, "_KILLING_SECONDS", -1.0)
    with pytest.raises(StillRunning), adopted_orphans():
        subprocess.run([sys.executable, "-c", DAEMON, tmp_path / "pid"], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any process's memory")
def test_memory_is_closed_to_others_of_the_same_user() -> None:
    look = [sys.executable, "-c", f"open('/proc/{os.getpid()}/mem', 'rb')"]
    with closed_memory():
        closed = subprocess.run(look, stderr=subprocess.PIPE, text=True, check=False)
    assert "PermissionError" in closed.stderr
