"""The history of a workspace: a commit a step, whatever the agent has put there."""

import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.exceptions import InfraError
from pytest_mlab.history import MOST_LOOSE, MOST_TEXT, History, Reader, describe_step, read_history
from pytest_mlab.snapshot import (
    DEEPEST,
    LINK,
    MARK,
    MOST_BYTES,
    MOST_FILES,
    original_name,
    recorded_name,
)

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is what reads a history")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty workspace."""
    root = tmp_path / "workspace"
    root.mkdir()
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where its history goes."""
    return tmp_path / "history.git"


def git(folder: Path, *args: str) -> str:
    """Ask git itself, as a user whose settings know nothing of us."""
    run = subprocess.run(
        ["git", "--git-dir", str(folder), *args],
        capture_output=True,
        check=True,
        env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )
    return run.stdout.decode("utf-8", "surrogateescape")


def check_out(folder: Path, revision: str, target: Path) -> Path:
    """Let git check out a step, after it has found no fault with any object."""
    git(folder, "fsck", "--full", "--strict")
    git(folder, "worktree", "add", "--quiet", "--detach", str(target), revision)
    return target


def record_once(folder: Path, root: Path) -> str:
    """Record a workspace and give the message of the commit."""
    History(folder, root).record("step 1")
    return read_history(folder)[-1].message


def test_each_step_is_a_commit_whose_message_is_action_and_result(folder: Path, root: Path) -> None:
    history = History(folder, root)
    history.record("start")
    (root / "train.py").write_text("CUT = 1\n")
    history.record(*describe_step(1, "Write File", {"file_name": "train.py"}, "written", ok=True))
    (root / "train.py").write_text("CUT = 4\n")
    history.record(*describe_step(2, "Execute Script", {"script_name": "x"}, "no x", ok=False))
    log = git(folder, "log", "-p", "--reverse")
    order = ["step 1: Write File train.py", "+CUT = 1", "step 2: Execute Script x", "+CUT = 4"]
    assert [log.index(text) for text in order] == sorted(log.index(text) for text in order)
    assert 'Write File: {"file_name": "train.py"}' in log
    assert "failed:\n    no x" in log


def test_any_step_can_be_checked_out_by_its_number(
    folder: Path, root: Path, tmp_path: Path
) -> None:
    history = History(folder, root)
    for number in range(1, 13):
        (root / "number.txt").write_text(str(number))
        history.record(*describe_step(number, "Write File", {}, "", ok=True))
    step = check_out(folder, ":/^step 3:", tmp_path / "step3")
    assert (step / "number.txt").read_text() == "3"


def test_what_was_removed_is_gone_and_what_was_made_is_there(
    folder: Path, root: Path, tmp_path: Path
) -> None:
    history = History(folder, root)
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "old.txt").write_text("old")
    history.record("one")
    (root / "deep" / "er" / "old.txt").rename(root / "deep" / "new.txt")
    (root / "run.sh").write_text("true\n")
    (root / "run.sh").chmod(0o755)
    history.record("two")
    two = check_out(folder, "main", tmp_path / "two")
    assert sorted(str(p.relative_to(two)) for p in two.rglob("*") if p.is_file()) == [
        ".git",
        "deep/new.txt",
        "run.sh",
    ]
    assert os.access(two / "run.sh", os.X_OK)


def test_a_change_within_the_clocks_tick_is_seen(folder: Path, root: Path) -> None:
    """Same size, same times as far as the file system can tell."""
    history = History(folder, root)
    file = root / "figure.txt"
    for number in range(100, 160):
        file.write_text(str(number))
        history.record(str(number))
    reader = Reader(folder)
    for commit in read_history(folder):
        found = reader.find(commit.tree, "figure.txt")
        assert found is not None
        assert reader.read(found[1]).decode() == commit.message


def test_a_change_under_an_old_time_of_change_is_seen(folder: Path, root: Path) -> None:
    history = History(folder, root)
    file = root / "figure.txt"
    file.write_text("100")
    time.sleep(0.05)
    history.record("one")
    status = file.stat()
    file.write_text("200")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    history.record("two")
    assert "+200" in git(folder, "log", "-p", "-1")


def test_it_goes_on_where_it_ended(folder: Path, root: Path) -> None:
    History(folder, root).record("one")
    History(folder, root).record("two")
    assert [commit.message for commit in read_history(folder)] == ["one", "two"]
    assert git(folder, "log", "--format=%s").split() == ["two", "one"]


def test_a_clock_set_back_puts_no_step_before_another(
    folder: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(folder, root)
    history.record("one")
    hour_ago = time.time() - 3600
    monkeypatch.setattr(time, "time", lambda: hour_ago)
    history.record("two")
    History(folder, root).record("three")
    times = git(folder, "log", "--reverse", "--format=%ct").split()
    assert times == sorted(times)


def test_a_long_observation_is_cut(folder: Path, root: Path) -> None:
    message = describe_step(1, "Read File", {}, "x" * (MOST_TEXT + 7), ok=True)
    History(folder, root).record(*message)
    assert "(7 more characters are in the trace)" in read_history(folder)[0].message


def test_control_characters_do_not_reach_a_readers_terminal(folder: Path, root: Path) -> None:
    hostile = "\x1b[2Jred\x00 \ud800 \x9b5m"
    History(folder, root).record(*describe_step(1, hostile, {"a": hostile}, hostile, ok=True))
    assert not set(git(folder, "log")) & set("\x1b\x00\x9b")
    assert "\\x1b[2Jred\\x00 \\ud800" in read_history(folder)[0].message


class TestLargeFiles:
    def test_are_recorded_by_size_and_digest(self, folder: Path, root: Path) -> None:
        (root / "model.bin").write_bytes(b"\0" * (MOST_BYTES + 1))
        record_once(folder, root)
        shown = git(folder, "show", "main:model.bin")
        assert shown.startswith(MARK.decode())
        assert f"size {MOST_BYTES + 1}\nsha256 " in shown
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        assert size < 5_000

    def test_are_recorded_again_when_they_change(self, folder: Path, root: Path) -> None:
        history = History(folder, root)
        for content in (b"a", b"b"):
            (root / "model.bin").write_bytes(content * 2_000_000)
            history.record("step")
        assert "-sha256" in git(folder, "log", "-p", "-1")

    def test_named_as_whole_are_whole(self, folder: Path, root: Path) -> None:
        (root / "answers.csv").write_bytes(b"1\n" * 600_000)
        History(folder, root, whole={"answers.csv": 2_000_000}).record("step")
        assert git(folder, "cat-file", "-s", "main:answers.csv").strip() == "1200000"

    def test_cannot_be_pretended(self, folder: Path, root: Path) -> None:
        (root / "model.bin").write_bytes(MARK + b"size 1\nsha256 0\n")
        record_once(folder, root)
        assert "sha256 0\n" not in git(folder, "show", "main:model.bin")

    def test_of_absurd_size_are_not_read(self, folder: Path, root: Path) -> None:
        with (root / "sparse").open("wb") as file:
            file.truncate(10_000_000_000)
        start = time.monotonic()
        record_once(folder, root)
        assert time.monotonic() - start < 5
        assert "size 10000000000\nchanged " in git(folder, "show", "main:sparse")


class TestHostileWorkspaces:
    def test_a_repository_of_the_agents_own_is_data(
        self, folder: Path, root: Path, tmp_path: Path
    ) -> None:
        subprocess.run(["git", "init", "--quiet", str(root / "inner")], check=True)
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        (root / "inner" / "file.txt").write_text("inside")
        (root / ".GIT").mkdir()
        (root / ".GIT" / "config").write_text("[core]\n\tbare = true\n")
        (root / ".gitmodules").symlink_to("/etc/passwd")
        (root / ".git.recorded").write_text("was so called")
        record_once(folder, root)
        step = check_out(folder, "main", tmp_path / "step")
        assert (step / "inner" / "file.txt").read_text() == "inside"
        assert (step / "inner" / ".git.recorded" / "HEAD").exists()
        assert (step / ".git.recorded.recorded").read_text() == "was so called"

    def test_attributes_and_filters_run_nothing(
        self, folder: Path, root: Path, tmp_path: Path
    ) -> None:
        """Neither while recording nor where a user whose git has such filters reads it."""
        (root / ".gitattributes").write_text("* filter=evil diff=evil text eol=crlf\n")
        (root / "file.txt").write_text("one\ntwo\n")
        hooks = root / "hooks"
        hooks.mkdir()
        settings = tmp_path / "gitconfig"
        touch = f"touch {tmp_path / 'ran'}; cat"
        settings.write_text(
            f'[filter "evil"]\n\tsmudge = {touch}\n\tclean = {touch}\n'
            f'[diff "evil"]\n\ttextconv = {touch}\n[core]\n\tautocrlf = input\n'
        )
        settings.write_text(settings.read_text().replace("; cat", " && cat"))
        environment = os.environ | {"GIT_CONFIG_GLOBAL": str(settings)}
        record_once(folder, root)
        for command in (["log", "-p"], ["worktree", "add", str(tmp_path / "step"), "main"]):
            subprocess.run(
                ["git", "--git-dir", str(folder), *command],
                check=True,
                env=environment,
                capture_output=True,
            )
        assert (tmp_path / "step" / "file.txt").read_bytes() == b"one\ntwo\n"
        assert not (tmp_path / "ran").exists()

    def test_links_are_recorded_and_not_followed(self, folder: Path, root: Path) -> None:
        (root / "passwd").symlink_to("/etc/passwd")
        (root / "up").symlink_to("..")
        (root / "round").symlink_to("round")
        record_once(folder, root)
        reader = Reader(folder)
        tree = read_history(folder)[0].tree
        found = {name: (mode, reader.read(i)) for mode, name, i in reader.entries(tree)}
        assert found == {
            b"passwd": (LINK, b"/etc/passwd"),
            b"up": (LINK, b".."),
            b"round": (LINK, b"round"),
        }

    def test_pipes_and_sockets_are_passed_over_and_named(self, folder: Path, root: Path) -> None:
        os.mkfifo(root / "pipe")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(root / "socket"))
            message = record_once(folder, root)
        assert "not recorded, neither file, folder nor link: 'pipe'" in message
        assert "'socket'" in message

    @pytest.mark.parametrize(
        "name",
        [b"new\nline", b"quo\"te's", b"x" * 255, b"\xff\xfe not UTF-8", b"-rf", b" ", b"\x1b[2J"],
    )
    def test_any_name_is_recorded(self, folder: Path, root: Path, name: bytes) -> None:
        file = root / os.fsdecode(name)
        file.write_text("here")
        record_once(folder, root)
        git(folder, "fsck", "--full", "--strict")
        assert os.fsencode(git(folder, "ls-tree", "-z", "--name-only", "main")) == name + b"\0"

    def test_what_cannot_be_read_is_named(self, folder: Path, root: Path) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may read everything")
        (root / "file.txt").write_text("secret")
        (root / "file.txt").chmod(0)
        (root / "below").mkdir()
        (root / "below").chmod(0)
        message = record_once(folder, root)
        (root / "below").chmod(0o700)
        assert "not recorded, Permission denied: 'file.txt'" in message
        assert "not recorded, Permission denied: 'below'" in message

    def test_there_is_an_end_to_many_files(self, folder: Path, root: Path) -> None:
        for number in range(MOST_FILES + 500):
            (root / str(number)).touch()
        history = History(folder, root)
        history.record("one")
        start = time.monotonic()
        history.record("two")
        assert time.monotonic() - start < 5
        message = read_history(folder)[-1].message
        assert f"over {MOST_FILES:,} files: the rest of the workspace" in message

    def test_there_is_an_end_to_depth(self, folder: Path, root: Path) -> None:
        deep = root
        for _ in range(DEEPEST + 10):
            deep /= "d"
        deep.mkdir(parents=True)
        assert "not recorded, folders nested too deeply" in record_once(folder, root)

    def test_files_that_change_while_they_are_read_do_no_harm(
        self, folder: Path, root: Path, tmp_path: Path
    ) -> None:
        over = threading.Event()

        def change() -> None:
            number = 0
            while not over.is_set():
                number += 1
                file = root / f"{number % 7}"
                file.unlink(missing_ok=True)
                if number % 3:
                    file.write_bytes(b"x" * (number % 5000))
                else:
                    file.symlink_to("elsewhere")

        changing = threading.Thread(target=change)
        changing.start()
        history = History(folder, root)
        for number in range(100):
            history.record(str(number))
        over.set()
        changing.join()
        history.record("end")
        step = check_out(folder, "main", tmp_path / "step")
        for path in root.iterdir():
            same = step / path.name
            assert path.is_symlink() == same.is_symlink()
            assert path.is_symlink() or path.read_bytes() == same.read_bytes()


@given(st.binary(min_size=1))
def test_reserved_names_come_back_as_they_were(name: bytes) -> None:
    for start in (b"", b".git", b".GIT.recorded", b".gitmodules"):
        recorded = recorded_name(start + name)
        assert original_name(recorded) == start + name
        assert recorded.lower() not in (b".git", b".gitmodules")


def test_a_long_history_is_packed_and_reads_as_before(folder: Path, root: Path) -> None:
    for number in range(50):
        (root / f"{number}.txt").write_text(f"{number}\n" * 50)
    history = History(folder, root)
    for number in range(MOST_LOOSE // 2):
        (root / "1.txt").write_text(f"{number}\n" * 50)
        history.record(str(number))
    before = git(folder, "log", "-p")
    history.close()
    assert not list((folder / "objects").glob("??/*"))
    git(folder, "fsck", "--full", "--strict")
    assert git(folder, "log", "-p") == before
    History(folder, root).record("and on")
    assert len(read_history(folder)) == MOST_LOOSE // 2 + 1


@contextmanager
def no_room() -> Iterator[None]:
    """Let every write to a file fail, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_where_there_is_no_room_it_says_what_to_do(folder: Path, root: Path) -> None:
    history = History(folder, root)
    history.record("one")
    (root / "file.txt").write_text("content")
    with no_room(), pytest.raises(InfraError, match="make room there or name another folder"):
        history.record("two")
    history.record("three")
    assert [commit.message for commit in read_history(folder)] == ["one", "three"]


def test_where_the_folder_cannot_be_made_it_says_what_to_do(tmp_path: Path, root: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfraError, match="--mlab-results"):
        History(tmp_path / "file" / "history.git", root)


def test_killed_at_any_moment_it_is_sound_up_to_the_last_commit(folder: Path, root: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom pytest_mlab.history import History\n"
        "history = History(Path(sys.argv[1]), Path(sys.argv[2]))\nnumber = 0\n"
        "while True:\n"
        "    number += 1\n"
        "    (Path(sys.argv[2]) / 'number').write_text(str(number))\n"
        "    print(history.record(str(number)), flush=True)\n"
    )
    for delay in (0.02, 0.05, 0.08):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(folder), str(root)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
            said = process.stdout.read().decode().split()
        assert set(said) <= {commit.id for commit in read_history(folder)}
        git(folder, "fsck", "--full", "--strict")
