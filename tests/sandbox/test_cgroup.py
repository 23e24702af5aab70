"""Root is held to a number of processes by control groups, of which none is left behind."""

import os
import signal
import sys
from pathlib import Path

import pytest

from pytest_mlab.process import run_command
from pytest_mlab.repl import Repl
from pytest_mlab.sandbox import View, cgroup
from tests.processes import start_python, wait_until
from tests.sandbox.conftest import Attack, Place, get_sandbox

kinds = pytest.mark.parametrize("kind", ["none", "bwrap", "landlock"])

needs_groups = pytest.mark.skipif(
    os.geteuid() != 0 or cgroup.find_parent() is None,
    reason="only root makes control groups, and not everywhere",
)

BOMB = """
import os, time
first = os.getpid()
while True:
    try:
        os.fork()
    except OSError:
        break
with open("held", "ab", buffering=0) as held:
    held.write(b".")
while os.getpid() != first or os.path.getsize("held") <= 30:
    time.sleep(0.05)
"""
"""The first process ends when enough have met the limit, with which all of them end."""


def count_held(place: Place) -> int:
    """Give how many processes met the limit, until now."""
    return (place.workspace / "held").stat().st_size


@needs_groups
@kinds
def test_a_fork_bomb_of_root_is_held(attack: Attack, place: Place, kind: str) -> None:
    run = attack(kind, BOMB, processes=50)
    assert run.ended == "exited"
    # A few are what the sandbox itself consists of.
    assert 30 < count_held(place) <= 50


@needs_groups
@kinds
def test_what_one_command_uses_up_another_does_not_lack(place: Place, kind: str) -> None:
    """As a scorer would, that runs after a Python REPL in which a bomb went off."""
    sandbox, view = get_sandbox(kind), place.view(processes=50)
    with Repl(sandbox, view) as repl:
        assert repl.run(BOMB, 30).ok
        (place.workspace / "held").unlink()
        run = run_command(
            sandbox.command([sys.executable, "-c", BOMB], view),
            cwd=view.writable,
            environment=sandbox.environment(view),
            seconds=30,
        )
    assert run.ended == "exited"
    assert count_held(place) > 30


HARNESS = """
import sys
from pathlib import Path
from pytest_mlab.process import run_command
from pytest_mlab.sandbox import View, cgroup, find_sandbox
view = View(writable=Path(sys.argv[2]), processes=50)
sandbox = find_sandbox(sys.argv[1])
command = sandbox.command(["/bin/sh", "-c", f"echo > started; sleep {sys.argv[3]}"], view)
print(*cgroup._groups(50), flush=True)
run_command(
    command, cwd=view.writable, environment=sandbox.environment(view), seconds=float(sys.argv[4])
)
"""


@needs_groups
@kinds
@pytest.mark.parametrize(("sleep", "limit"), [(0, 60), (60, 0.5)], ids=["end", "time limit"])
def test_no_group_is_left_behind(tmp_path: Path, kind: str, sleep: float, limit: float) -> None:
    get_sandbox(kind)
    with start_python(HARNESS, kind, tmp_path, sleep, limit) as harness:
        output, errors = harness.communicate(timeout=30)
    (group,) = map(Path, output.split())
    assert cgroup.find_parent() in group.parents, errors
    assert not group.exists()


@needs_groups
def test_groups_of_a_harness_that_was_killed_are_removed_by_the_next(tmp_path: Path) -> None:
    get_sandbox("bwrap")
    with start_python(HARNESS, "bwrap", tmp_path, 60, 60) as harness:
        assert harness.stdout is not None
        (group,) = map(Path, harness.stdout.readline().split())
        assert wait_until((tmp_path / "started").exists)
        os.kill(harness.pid, signal.SIGKILL)
        harness.communicate()

    def is_left() -> bool:
        """Tell whether it holds nothing; any other process may have removed it by then."""
        try:
            return (group / "pids.current").read_text() == "0\n"
        except OSError:
            return True

    assert wait_until(is_left)
    with start_python(HARNESS, "none", tmp_path, 0, 60) as another:
        another.communicate(timeout=30)
    assert not group.exists()


@needs_groups
def test_groups_of_a_harness_that_lives_are_left_alone(tmp_path: Path, place: Place) -> None:
    get_sandbox("none").command(["true"], place.view(processes=51))
    ours = cgroup._groups(51)
    assert ours
    with start_python(HARNESS, "none", tmp_path, 0, 60) as another:
        another.communicate(timeout=30)
    assert all(group.exists() for group in ours)


@kinds
def test_where_no_groups_can_be_made_commands_run_without(
    attack: Attack, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(cgroup, "find_parent", lambda: None)
    assert attack(kind, "print('ran')").stdout == "ran\n"


def test_an_ordinary_user_makes_no_groups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cgroup.enter_group(View(writable=tmp_path)) == ""


MOUNTS = """\
30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
"""
MOUNTS_1 = """\
30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
32 30 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
"""
MOUNTS_DOCKER = """\
32 30 0:28 /docker/4e1f /sys/fs/cgroup/pids ro master:9 - cgroup cgroup rw,pids
"""


@pytest.mark.parametrize(
    ("groups", "mounts", "found"),
    [
        ("0::/user.slice/session-1.scope", MOUNTS, ["/sys/fs/cgroup/user.slice/session-1.scope"]),
        ("0::/", MOUNTS, ["/sys/fs/cgroup"]),
        (
            "8:pids:/job\n1:cpu:/job\n0::/",
            MOUNTS_1,
            ["/sys/fs/cgroup/pids/job", "/sys/fs/cgroup/unified"],
        ),
        ("8:pids:/docker/4e1f/job", MOUNTS_DOCKER, ["/sys/fs/cgroup/pids/job"]),
        ("8:pids:/elsewhere", MOUNTS_DOCKER, []),
        ("8:cpu:/job", MOUNTS_1, []),
        ("0::/", "", []),
    ],
)
def test_our_own_group_is_found_in_either_version(
    groups: str, mounts: str, found: list[str]
) -> None:
    assert [*map(str, cgroup.own_groups(groups, mounts))] == found
