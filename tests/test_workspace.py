"""A fresh workspace, and walls that no name an agent gives leads through."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_mlab import ActionError, TaskError
from pytest_mlab.data import PreparedData, prepare_data
from pytest_mlab.workspace import MOST_BYTES, Workspace
from tests.folders import STARTER, load

PARTS = ("..", ".", "", "/", "link", "up", "data", "lib", "work", "work-2", "public", "private")
SECRET = b"the hidden labels"


def assert_refused(*acts: Callable[[], object]) -> None:
    """See that each of these is told that it cannot be done."""
    for act in acts:
        with pytest.raises(ActionError):
            act()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that no agent may read or change."""
    file = tmp_path / "private" / "labels.csv"
    file.parent.mkdir()
    file.write_bytes(SECRET)
    return file


@pytest.fixture
def workspace(tmp_path: Path, outside: Path) -> Workspace:
    """A workspace ``work`` with train.py, lib/ and data/, and a sibling ``work-2`` beside it."""
    root, public, sibling = (tmp_path / name for name in ("work", "public", "work-2"))
    for folder in (root / "lib", public, sibling):
        folder.mkdir(parents=True)
    (root / "train.py").write_text("print(1)\n")
    (root / "lib" / "util.py").write_text("x = 1\n")
    (root / "frozen.txt").write_text("frozen")
    (public / "train.csv").write_text("id\n1\n")
    (root / "data").symlink_to(public)
    (sibling / "other.txt").write_bytes(SECRET)
    return Workspace(root, public, read_only=("frozen.txt", "kept/*", "./dotted.txt"))


class TestCreating:
    def test_every_workspace_has_the_starters_files_and_the_data(self, tmp_path: Path) -> None:
        task = load(tmp_path, files={"workspace/__pycache__/x.pyc": "x", "workspace/a/b": "b"})
        public = prepare_data(task).public
        for name in ("one", "two"):
            made = Workspace.create(task, public, tmp_path / name)
            assert made.entries(".") == ["a/", "data/", "train.py"]
            assert made.entries("data") == ["test.csv", "train.csv"]
            assert made.read("train.py").decode() == STARTER

    def test_workspaces_do_not_share_files(self, tmp_path: Path) -> None:
        task = load(tmp_path)
        data = prepare_data(task)
        one, two = (Workspace.create(task, data.public, tmp_path / n) for n in ("one", "two"))
        one.write("train.py", b"changed")
        assert two.read("train.py").decode() == STARTER
        assert (task.workspace / "train.py").read_text() == STARTER

    def test_without_prepared_data_there_is_no_folder_data(self, tmp_path: Path) -> None:
        task = load(tmp_path, files={"prepare.py": None})
        made = Workspace.create(task, prepare_data(task).public, tmp_path / "w")
        assert made.entries(".") == ["train.py"]

    def test_a_starter_folder_in_the_place_of_the_data_is_the_authors_error(
        self, tmp_path: Path
    ) -> None:
        task = load(tmp_path, files={"workspace/data/mine.csv": ""})
        data: PreparedData = prepare_data(task)
        with pytest.raises(TaskError, match="workspace/data: is where the prepared data appear"):
            Workspace.create(task, data.public, tmp_path / "w")


class TestReading:
    def test_files_and_public_data(self, workspace: Workspace) -> None:
        assert workspace.read("train.py") == b"print(1)\n"
        assert workspace.read("./lib/../lib/util.py") == b"x = 1\n"
        assert workspace.read("data/train.csv") == b"id\n1\n"
        assert workspace.read(str(workspace.root / "train.py")) == b"print(1)\n"

    def test_a_part_of_a_file(self, workspace: Workspace) -> None:
        assert workspace.read("train.py", most=5) == b"print"

    def test_what_is_not_there_or_no_file_is_told(self, workspace: Workspace) -> None:
        with pytest.raises(ActionError, match=r'"none\.py" cannot be read: No such file'):
            workspace.read("none.py")
        for folder in ("lib", ".", "data"):
            with pytest.raises(ActionError, match=f'"{folder}" is a folder, not a file'):
                workspace.read(folder)
        with pytest.raises(ActionError, match=r'"train\.py" is not a folder'):
            workspace.entries("train.py")

    @pytest.mark.timeout(10)
    def test_a_pipe_blocks_nobody(self, workspace: Workspace) -> None:
        os.mkfifo(workspace.root / "pipe")
        with pytest.raises(ActionError, match='"pipe" is not a regular file'):
            workspace.read("pipe")
        with pytest.raises(ActionError, match='no file "pipe"'):
            workspace.path("pipe")
        with pytest.raises(ActionError, match='"pipe" is not a regular file'):
            workspace.copy("pipe", "copy")
        workspace.write("pipe", b"a file now")
        assert workspace.read("pipe") == b"a file now"

    def test_a_huge_file_is_not_read_whole(self, workspace: Workspace) -> None:
        os.truncate(workspace.root / "train.py", 10 * MOST_BYTES)
        assert workspace.read("train.py", most=8) == b"print(1)"
        for action in (
            lambda: workspace.read("train.py"),
            lambda: workspace.write("train.py", b""),
        ):
            with pytest.raises(ActionError, match=r'"train\.py" is larger than 64 MB'):
                action()


class TestNothingLeadsOutside:
    NAMES = (
        "../private/labels.csv",
        "lib/../../private/labels.csv",
        "data/../private/labels.csv",
        "data/../../private/labels.csv",
        "../work-2/other.txt",
        "/etc/passwd",
        "//etc/passwd",
        "link",
        "up/private/labels.csv",
        "/proc/self/root/etc/passwd",
    )

    @pytest.fixture(autouse=True)
    def links(self, workspace: Workspace, outside: Path) -> None:
        (workspace.root / "link").symlink_to(outside)
        (workspace.root / "up").symlink_to("..")

    @pytest.mark.parametrize("name", NAMES)
    def test_for_reading(self, workspace: Workspace, name: str) -> None:
        assert_refused(
            lambda: workspace.read(name),
            lambda: workspace.entries(name),
            lambda: workspace.path(name),
            lambda: workspace.exists(name),
            lambda: workspace.copy(name, "stolen"),
        )
        assert not (workspace.root / "stolen").exists()

    @pytest.mark.parametrize("name", NAMES)
    def test_for_writing(self, workspace: Workspace, name: str, outside: Path) -> None:
        assert_refused(
            lambda: workspace.write(name, b"forged"),
            lambda: workspace.copy("train.py", name),
            lambda: workspace.copy("lib", f"{name}/lib"),
            lambda: workspace.undo(name),
        )
        assert outside.read_bytes() == SECRET
        assert (workspace.root.parent / "work-2" / "other.txt").read_bytes() == SECRET

    @pytest.mark.parametrize(
        "name", ["", "\0", "a\0b", "x" * 300, "x/" * 3000, "\ud800", "a\udfff.py", "loop"]
    )
    def test_and_odd_names_are_refused_with_a_message(
        self, workspace: Workspace, name: str
    ) -> None:
        (workspace.root / "loop").symlink_to("loop")
        assert_refused(
            lambda: workspace.read(name),
            lambda: workspace.entries(name),
            lambda: workspace.path(name),
            lambda: workspace.write(name, b""),
            lambda: workspace.copy(name, "copy"),
            lambda: workspace.copy("lib", name),
        )

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
    @given(
        parts=st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=8),
    )
    @example(["up", "work", "up", "private", "labels.csv"])
    def test_however_a_name_is_put_together(
        self, workspace: Workspace, outside: Path, parts: list[str]
    ) -> None:
        name = "/".join(parts)
        for act in (workspace.read, lambda name: workspace.copy(name, "lib/stolen")):
            try:
                act(name)
            except ActionError:
                continue
            inside = (workspace.root / name).resolve()
            assert inside.is_relative_to(workspace.root) or inside.is_relative_to(workspace.public)
        before = {path: path.stat() for path in (outside, workspace.public / "train.csv")}
        siblings = sorted(workspace.root.parent.iterdir())
        try:
            workspace.write(name, b"forged")
        except ActionError:
            pass
        else:
            assert (workspace.root / name).resolve().is_relative_to(workspace.root)
        assert {path: path.stat() for path in before} == before
        assert sorted(workspace.root.parent.iterdir()) == siblings
        assert sorted(path.name for path in workspace.public.iterdir()) == ["train.csv"]

    def test_a_folder_swapped_for_a_link_between_check_and_use(
        self, workspace: Workspace, outside: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What a process of the agent's might do in that moment is done here for it."""
        (workspace.root / "lib" / "labels.csv").write_text("own")
        resolve = Workspace._resolve

        def resolve_then_swap(self: Workspace, name: str, *, writing: bool) -> Path:
            path = resolve(self, name, writing=writing)
            if (lib := self.root / "lib").is_dir() and not lib.is_symlink():
                lib.rename(self.root / "away")
                lib.symlink_to(outside.parent)
            return path

        monkeypatch.setattr(Workspace, "_resolve", resolve_then_swap)
        for act in (
            lambda: workspace.read("lib/labels.csv"),
            lambda: workspace.entries("lib"),
            lambda: workspace.write("lib/labels.csv", b"forged"),
            lambda: workspace.copy("lib", "stolen"),
            lambda: workspace.copy("train.py", "lib/labels.csv"),
        ):
            if (away := workspace.root / "away").exists():
                (workspace.root / "lib").unlink()
                away.rename(workspace.root / "lib")
            with pytest.raises(ActionError):
                act()
        assert outside.read_bytes() == SECRET
        assert not (workspace.root / "stolen" / "labels.csv").exists()


class TestReadOnly:
    @pytest.mark.parametrize(
        "name",
        [
            "data/train.csv",
            "./data/train.csv",
            "data/../data/train.csv",
            "data/./new.csv",
            "lib/../data/new.csv",
            "data",
            "data/",
            "alias/train.csv",
            "alias.csv",
            "frozen.txt",
            "./frozen.txt",
            "lib/../frozen.txt",
            "frozen.txt/",
            "kept/a.txt",
            "kept/deep/a.txt",
            "dotted.txt",
            ".",
            "",
        ],
    )
    def test_however_the_path_is_spelled(self, workspace: Workspace, name: str) -> None:
        (workspace.root / "alias").symlink_to("data")
        (workspace.root / "alias.csv").symlink_to("data/train.csv")
        with pytest.raises(ActionError):
            workspace.write(name, b"forged")
        with pytest.raises(ActionError):
            workspace.copy("train.py", name)
        with pytest.raises(ActionError):
            workspace.write(str(workspace.root / name), b"forged")
        assert workspace.read("data/train.csv") == b"id\n1\n"
        assert workspace.read("frozen.txt") == b"frozen"

    def test_a_name_that_only_looks_alike_is_another_file(self, workspace: Workspace) -> None:
        workspace.write("FROZEN.txt", b"mine")
        workspace.write("DATA/train.csv", b"mine")
        assert workspace.read("frozen.txt") == b"frozen"
        assert workspace.read("data/train.csv") == b"id\n1\n"

    def test_a_copy_of_what_is_read_only_can_be_changed(self, workspace: Workspace) -> None:
        (workspace.public / "train.csv").chmod(0o444)
        workspace.copy("data/train.csv", "mine.csv")
        workspace.write("mine.csv", b"changed")
        assert workspace.read("mine.csv") == b"changed"


class TestWriting:
    def test_makes_the_folders_it_needs(self, workspace: Workspace) -> None:
        workspace.write("a/b/c.txt", b"deep")
        assert workspace.read("a/b/c.txt") == b"deep"

    def test_goes_to_where_a_link_within_the_workspace_leads(self, workspace: Workspace) -> None:
        (workspace.root / "short").symlink_to("lib/util.py")
        workspace.write("short", b"x = 2\n")
        assert workspace.read("lib/util.py") == b"x = 2\n"

    def test_never_goes_through_a_hard_link(self, workspace: Workspace, outside: Path) -> None:
        os.link(outside, workspace.root / "hard.txt")
        workspace.write("hard.txt", b"forged")
        assert outside.read_bytes() == SECRET

    def test_keeps_the_mode_of_a_file(self, workspace: Workspace) -> None:
        (workspace.root / "train.py").chmod(0o755)
        workspace.write("train.py", b"")
        assert (workspace.root / "train.py").stat().st_mode & 0o777 == 0o755

    def test_over_a_folder_or_under_a_file_is_refused_and_leaves_nothing(
        self, workspace: Workspace
    ) -> None:
        with pytest.raises(ActionError, match='"lib" cannot be written: Is a directory'):
            workspace.write("lib", b"")
        with pytest.raises(ActionError, match="cannot be written: Not a directory"):
            workspace.write("train.py/x", b"")
        assert workspace.entries(".") == ["data/", "frozen.txt", "lib/", "train.py"]


class TestUndo:
    def test_takes_back_one_write_after_the_other(self, workspace: Workspace) -> None:
        for content in (b"2", b"3"):
            workspace.write("train.py", content)
        workspace.undo("lib/../train.py")
        assert workspace.read("train.py") == b"2"
        workspace.undo("train.py")
        assert workspace.read("train.py") == b"print(1)\n"

    def test_without_a_write_there_is_nothing_to_undo(self, workspace: Workspace) -> None:
        workspace.write("new.py", b"")
        for name in ("train.py", "new.py", "none.py"):
            with pytest.raises(ActionError, match=f'no edit of "{name}" to undo'):
                workspace.undo(name)

    def test_a_write_that_failed_is_none(self, workspace: Workspace) -> None:
        (workspace.root / "away").mkdir()
        workspace.write("train.py", b"2")
        (workspace.root / "train.py").rename(workspace.root / "away" / "train.py")
        (workspace.root / "train.py").mkdir()
        with pytest.raises(ActionError):
            workspace.undo("train.py")
        (workspace.root / "train.py").rmdir()
        workspace.undo("train.py")
        assert workspace.read("train.py") == b"print(1)\n"


class TestCopying:
    def test_a_file_over_another_can_be_undone(self, workspace: Workspace) -> None:
        workspace.copy("lib/util.py", "train.py")
        assert workspace.read("train.py") == b"x = 1\n"
        workspace.undo("train.py")
        assert workspace.read("train.py") == b"print(1)\n"

    def test_a_folder_with_all_that_is_in_it(self, workspace: Workspace) -> None:
        workspace.write("lib/deep/er/a.txt", b"a")
        (workspace.root / "lib" / "empty").mkdir()
        workspace.copy("lib", "copies/lib")
        assert workspace.entries("copies/lib") == ["deep/", "empty/", "util.py"]
        assert workspace.read("copies/lib/deep/er/a.txt") == b"a"

    def test_the_public_data(self, workspace: Workspace) -> None:
        workspace.copy("data", "mine")
        workspace.write("mine/train.csv", b"changed")
        assert workspace.read("data/train.csv") == b"id\n1\n"

    def test_a_link_in_a_circle_is_listed_like_a_file(self, workspace: Workspace) -> None:
        (workspace.root / "itself").symlink_to("itself")
        assert "itself" in workspace.entries(".")

    @pytest.mark.timeout(10)
    def test_links_stay_links_and_pipes_are_left_out(
        self, workspace: Workspace, outside: Path
    ) -> None:
        os.mkfifo(workspace.root / "lib" / "pipe")
        (workspace.root / "lib" / "link").symlink_to(outside)
        (workspace.root / "lib" / "round").symlink_to(".")
        workspace.copy("lib", "copy")
        assert workspace.entries("copy") == ["link", "round/", "util.py"]
        with pytest.raises(ActionError, match='"copy/link" is outside the workspace'):
            workspace.read("copy/link")

    @pytest.mark.parametrize(
        ("source", "destination", "message"),
        [
            ("none.py", "a.py", 'there is no "none.py"'),
            ("lib", "data", "is read-only"),
            ("lib", "frozen.txt", "is read-only"),
            ("lib", "train.py", "exists already; name a folder that does not"),
            ("lib", "lib/sub", '"lib/sub" lies within "lib"'),
            (".", "all", '"all" lies within "."'),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, workspace: Workspace, source: str, destination: str, message: str
    ) -> None:
        with pytest.raises(ActionError) as error:
            workspace.copy(source, destination)
        assert message in str(error.value)


def test_names_that_are_not_utf8_can_be_listed_read_and_written(workspace: Workspace) -> None:
    (workspace.root / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"latin")
    (name,) = [name for name in workspace.entries(".") if name.startswith("caf")]
    workspace.write(name, workspace.read(name) + b"!")
    assert (workspace.root / os.fsdecode(b"caf\xe9.txt")).read_bytes() == b"latin!"
