"""A folder is held to a size and a number of files while programs write into it."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab.process import Completed, run_command
from pytest_mlab.quota import Holding, Quota, _deleted_files, measure_copy, measure_folder
from pytest_mlab.repl import Repl
from pytest_mlab.sandbox import View, find_sandbox
from tests.processes import wait_until

MB = 10**6
FULL = "more than the {} that it may; delete what is not needed"

FILL = """
import time
for number in range(400):
    with open(f"{number}.bin", "wb") as file:
        file.write(bytes(1_000_000))
    time.sleep(0.01)
print("all of them")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def quota(folder: Path) -> Quota:
    """Allow the folder 0.05 GB, which is 53.7 MB, and 300 files."""
    return Quota(folder, 0.05, 300)


def run(folder: Path, quota: Quota, code: str, seconds: float = 60) -> Completed:
    return run_command(
        [sys.executable, "-c", code], cwd=folder, environment={}, seconds=seconds, quota=quota
    )


def test_a_program_is_stopped_that_fills_the_folder(folder: Path, quota: Quota) -> None:
    ended = run(folder, quota, FILL)
    assert (ended.ended, ended.exit_code, ended.stdout) == ("quota", None, "")
    assert ended.describe_end().startswith("the workspace holds 0.")
    assert ended.describe_end().endswith(FULL.format("0.05 GB"))
    assert 53 * MB < measure_folder(folder).size < 400 * MB


def test_a_program_is_stopped_that_makes_too_many_files(folder: Path, quota: Quota) -> None:
    code = """
import os, time
for number in range(20_000):
    os.makedirs(f"{number % 50}", exist_ok=True)
    open(f"{number % 50}/{number}", "w").close()
    time.sleep(0.001)
"""
    ended = run(folder, quota, code)
    assert ended.ended == "quota"
    assert ended.describe_end().endswith(f" files, {FULL.format('300')}")


def test_what_was_too_quick_to_be_stopped_is_told_at_its_end(folder: Path, quota: Quota) -> None:
    ended = run(folder, quota, "open('big', 'wb').write(bytes(80_000_000))")
    assert ended.ended == "quota"


def test_a_program_may_delete_what_is_too_much_and_others_then_go_on(
    folder: Path, quota: Quota
) -> None:
    assert run(folder, quota, FILL).ended == "quota"
    # Slowly, so that it is looked at in the middle of it.
    delete = """
import os, time
for name in os.listdir():
    os.remove(name)
    time.sleep(0.01)
"""
    assert run(folder, quota, delete).ended == "exited"
    assert run(folder, quota, "open('small', 'w').close()").ended == "exited"


def test_a_full_folder_may_not_grow_further(folder: Path, quota: Quota) -> None:
    assert run(folder, quota, FILL).ended == "quota"
    before = measure_folder(folder).size
    more = FILL.replace("{number}.bin", "more-{number}.bin")
    assert run(folder, quota, more).ended == "quota"
    assert measure_folder(folder).size - before < 300 * MB


def test_deleted_files_that_are_still_open_count(folder: Path, quota: Quota) -> None:
    code = """
import os, time
kept = []
for number in range(400):
    kept.append(open("gone", "wb", buffering=0))
    os.unlink("gone")
    kept[-1].write(bytes(1_000_000))
    time.sleep(0.01)
print("all of them")
"""
    ended = run(folder, quota, code)
    assert (ended.ended, ended.stdout) == ("quota", "")


def test_a_program_that_keeps_within_it_is_left_alone(folder: Path, quota: Quota) -> None:
    code = """
import time
for number in range(100):
    open("same", "wb").write(bytes(10_000_000))
    time.sleep(0.01)
"""
    ended = run(folder, quota, code)
    assert (ended.ended, ended.exit_code) == ("exited", 0)


def test_others_that_take_room_on_the_disk_stop_nobody(
    tmp_path: Path, folder: Path, quota: Quota
) -> None:
    ended: list[Completed] = []
    thread = threading.Thread(
        target=lambda: ended.append(run(folder, quota, "import time; time.sleep(1)"))
    )
    thread.start()
    time.sleep(0.3)
    (tmp_path / "other").write_bytes(bytes(100 * MB))
    thread.join()
    assert ended[0].ended == "exited"


def test_a_limit_of_time_is_told_as_such(folder: Path, quota: Quota) -> None:
    ended = run(folder, quota, "import time; time.sleep(60)", seconds=0.5)
    assert (ended.ended, ended.excess) == ("timeout", "")


def test_processes_that_end_while_they_are_looked_at_are_left_out(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    assert list(_deleted_files(ended.pid, tmp_path)) == []
    assert list(_deleted_files(os.getpid(), tmp_path / "gone")) == []


class TestRepl:
    """A REPL is watched while it runs a command, and between commands."""

    @pytest.fixture
    def repl(self, folder: Path, quota: Quota) -> Iterator[Repl]:
        with Repl(find_sandbox("none"), View(writable=folder), quota=quota) as repl:
            yield repl

    def test_a_command_that_fills_the_folder_ends_it(self, repl: Repl) -> None:
        repl.run("x = 1", 30)
        reply = repl.run(FILL, 30)
        assert reply.ended == "quota"
        assert "[The Python process ended: the workspace holds 0." in reply.text()
        assert FULL.format("0.05 GB") in reply.text()
        assert "NameError" in repl.run("x", 30).text()

    def test_a_thread_that_goes_on_between_commands_is_ended(
        self, folder: Path, repl: Repl
    ) -> None:
        lines = "\n    ".join(FILL.splitlines())
        code = f"import threading\ndef fill():\n    {lines}\nthreading.Thread(target=fill).start()"
        assert repl.run(code, 30).ok
        assert wait_until(lambda: measure_folder(folder).size > 40 * MB, 30)
        assert wait_until(lambda: repl.run("1", 30).ended == "quota", 30)
        assert measure_folder(folder).size < 350 * MB
        assert repl.run("1", 30).ended == "finished"

    def test_it_survives_a_script_that_fills_the_folder(
        self, folder: Path, quota: Quota, repl: Repl
    ) -> None:
        repl.run("x = 1", 30)
        assert run(folder, quota, FILL).ended == "quota"
        time.sleep(0.5)
        assert repl.run("x", 30).text() == "1\n"


class TestMeasuring:
    """What a folder holds is counted as it lies there."""

    def test_files_and_folders_count(self, folder: Path) -> None:
        (folder / "below").mkdir()
        (folder / "below" / "file").write_bytes(bytes(100_000))
        held = measure_folder(folder)
        assert held.files == 2
        assert 100_000 <= held.size < 200_000

    def test_hard_links_count_once_and_links_for_themselves(
        self, tmp_path: Path, folder: Path
    ) -> None:
        (tmp_path / "outside").write_bytes(bytes(MB))
        (folder / "link").symlink_to(tmp_path / "outside")
        (folder / "folder").symlink_to(tmp_path, target_is_directory=True)
        (folder / "file").write_bytes(bytes(MB))
        os.link(folder / "file", folder / "again")
        held = measure_folder(folder)
        assert held.files == 4
        assert MB <= held.size < 2 * MB

    def test_holes_in_a_file_take_no_room_but_copies_have_none(self, folder: Path) -> None:
        (folder / "sparse").touch()
        os.truncate(folder / "sparse", 10**9)
        assert measure_folder(folder) == Holding(0, 1)
        assert measure_copy(folder) == measure_copy(folder / "sparse") == Holding(10**9, 1)

    def test_a_folder_that_is_gone_holds_nothing(self, folder: Path, quota: Quota) -> None:
        folder.rmdir()
        quota.begin()
        assert quota.admits(Holding(MB, 1))
