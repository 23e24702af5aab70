"""Prepared data: made once, whole or not there, unchanged, and errors to whom they belong."""

import hashlib
import json
import shutil
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import InfraError, TaskError, Unavailable
from pytest_mlab.data import MANIFEST, PreparedData, data_sha256, prepare_apart, prepare_data
from pytest_mlab.taskfile import load_task
from tests.folders import PREPARER, load, make_task
from tests.processes import is_alive, start_python, wait_until

COUNTING = PREPARER + "    (raw.parents[2] / 'runs.txt').open('a').write('x')\n"
MISSING = {"requires": ["no-such-package"]}
PREPARE = """
import sys
from pathlib import Path
from pytest_mlab.data import prepare_data
from pytest_mlab.taskfile import load_task
print(prepare_data(load_task(Path(sys.argv[1]))).public)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MLAB_CACHE", str(folder))
    return folder


def prepare(tmp_path: Path, preparer: str | None = PREPARER, **changes: Any) -> PreparedData:
    """Prepare a task with this ``prepare.py``."""
    return prepare_data(load(tmp_path, files={"prepare.py": preparer}, **changes))


def runs(tmp_path: Path) -> int:
    """Tell how often `COUNTING` has built."""
    return len((tmp_path / "runs.txt").read_text())


def names(folder: Path) -> list[str]:
    """List a folder."""
    return sorted(path.name for path in folder.iterdir())


def finished(cache: Path) -> list[str]:
    """List what looks finished in the cache."""
    return [name for name in names(cache / "data") if not name.startswith(".")]


class TestPreparing:
    def test_gives_public_and_private_data_apart(self, tmp_path: Path) -> None:
        data = prepare(tmp_path)
        assert names(data.public) == ["test.csv", "train.csv"]
        assert names(data.private) == ["labels.csv"]
        assert not data.private.is_relative_to(data.public)

    def test_happens_once(self, tmp_path: Path) -> None:
        assert prepare(tmp_path, COUNTING) == prepare(tmp_path, COUNTING)
        assert runs(tmp_path) == 1

    def test_happens_again_when_what_it_reads_has_changed(self, tmp_path: Path) -> None:
        first, second = prepare(tmp_path, COUNTING), prepare(tmp_path, COUNTING + "\n")
        assert first != second
        assert runs(tmp_path) == 2

    def test_public_data_are_read_only(self, tmp_path: Path) -> None:
        mode = (prepare(tmp_path).public / "train.csv").stat().st_mode
        assert stat.S_IMODE(mode) == 0o444

    def test_a_task_without_a_preparer_has_empty_data(self, tmp_path: Path) -> None:
        data = prepare(tmp_path, None)
        assert names(data.public) == names(data.private) == []

    def test_it_runs_in_the_task_folder_with_its_neighbours_importable(
        self, tmp_path: Path
    ) -> None:
        files = {
            "prepare.py": "import names\ndef build(raw, public, private):\n"
            "    (public / 'a').write_text(names.A + open('b.txt').read())\n",
            "names.py": "A = 'a'",
            "b.txt": "b",
        }
        data = prepare_data(load(tmp_path, files=files))
        assert (data.public / "a").read_text() == "ab"

    def test_apart_it_leaves_the_cached_data_alone(self, tmp_path: Path, cache: Path) -> None:
        task = load(tmp_path)
        apart = prepare_apart(task, tmp_path / "apart")
        assert (apart.public / "train.csv").exists()
        assert not (cache / "data").exists()


class TestProcessesAtOnce:
    def test_one_prepares_and_the_others_wait(self, tmp_path: Path) -> None:
        slow = COUNTING + "    import time; time.sleep(0.3)\n"
        folder = make_task(tmp_path, files={"prepare.py": slow})
        processes = [start_python(PREPARE, folder) for _ in range(4)]
        answers = {process.communicate(timeout=60)[0] for process in processes}
        assert [process.returncode for process in processes] == [0] * 4
        assert len(answers) == 1
        assert runs(tmp_path) == 1

    def test_a_killed_preparation_leaves_nothing_that_looks_finished(
        self, tmp_path: Path, cache: Path
    ) -> None:
        marker = tmp_path / "building"
        slow = (
            "import os, time\n" + PREPARER + f"    if not os.path.exists({str(marker)!r}):\n"
            f"        open({str(marker)!r}, 'w').write(str(os.getpid()))\n"
            "        time.sleep(60)\n"
        )
        folder = make_task(tmp_path, files={"prepare.py": slow})
        process = start_python(PREPARE, folder)
        assert wait_until(lambda: marker.exists() and marker.read_text() != "")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert finished(cache) == []
        assert wait_until(lambda: not is_alive(int(marker.read_text()))), "it still builds"

        data = prepare_data(load_task(folder))
        assert (data.public / "train.csv").exists()
        assert len(names(cache / "data")) == 1, "the remains are not cleared away"


class TestCachedData:
    @pytest.mark.parametrize("file", ["public/train.csv", "private/labels.csv"])
    def test_a_changed_file_is_refused(self, tmp_path: Path, file: str) -> None:
        path = prepare(tmp_path).public.parent / file
        path.chmod(0o644)
        path.write_text(path.read_text().replace("1", "0"))
        with pytest.raises(TaskError) as error:
            prepare(tmp_path)
        assert f"{path}: was changed after it was prepared; delete " in str(error.value)

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        (prepare(tmp_path).private / "labels.csv").unlink()
        with pytest.raises(TaskError, match="was changed after it was prepared"):
            prepare(tmp_path)

    def test_an_additional_public_file_is_refused(self, tmp_path: Path) -> None:
        (prepare(tmp_path).public / ".labels.csv").write_text("shown to every agent")
        with pytest.raises(TaskError, match=r"\.labels\.csv: was changed"):
            prepare(tmp_path)

    def test_a_manifest_that_is_cut_off_is_refused(self, tmp_path: Path) -> None:
        (prepare(tmp_path).public.parent / MANIFEST).write_text('{"public')
        with pytest.raises(TaskError, match="was changed after it was prepared"):
            prepare(tmp_path)

    def test_data_without_a_manifest_are_prepared_anew(self, tmp_path: Path) -> None:
        (prepare(tmp_path, COUNTING).public.parent / MANIFEST).unlink()
        prepare(tmp_path, COUNTING)
        assert runs(tmp_path) == 2

    def test_a_copy_with_other_times_is_as_good(self, tmp_path: Path, cache: Path) -> None:
        prepare(tmp_path, COUNTING)
        shutil.move(cache, tmp_path / "moved")
        shutil.copytree(tmp_path / "moved", cache, copy_function=shutil.copyfile)
        prepare(tmp_path, COUNTING)
        assert runs(tmp_path) == 1

    def test_the_manifest_tells_the_digest_of_every_file(self, tmp_path: Path) -> None:
        data = prepare(tmp_path)
        manifest = json.loads((data.public.parent / MANIFEST).read_text())
        content = (data.private / "labels.csv").read_bytes()
        assert manifest["private/labels.csv"][0] == hashlib.sha256(content).hexdigest()
        assert set(manifest) == {"public/train.csv", "public/test.csv", "private/labels.csv"}


class TestThePin:
    """``[data] sha256`` says what preparing has to give."""

    def test_the_right_data_pass(self, tmp_path: Path) -> None:
        manifest = json.loads((prepare(tmp_path).public.parent / MANIFEST).read_text())
        sha256 = data_sha256({name: digest for name, (digest, *_) in manifest.items()})
        prepare(tmp_path, PREPARER + "\n", data={"sha256": sha256})

    def test_other_data_are_refused_with_both_digests(self, tmp_path: Path, cache: Path) -> None:
        with pytest.raises(TaskError) as error:
            prepare(tmp_path, data={"sha256": "0" * 64})
        assert f"[data] sha256 is {'0' * 64}, but preparing gave " in str(error.value)
        assert finished(cache) == []


class TestDownload:
    """``download(raw)`` fetches; what it has fetched is kept."""

    BUILD = "\ndef build(raw, public, private):\n    (public / 'a').write_text(str({}))\n"

    def test_is_not_repeated_when_only_building_fails(self, tmp_path: Path) -> None:
        broken = (
            "def download(raw):\n    (raw / 'log').open('a').write('x')\n"
            "def build(raw, public, private):\n"
            "    if not (raw / 'twice').exists():\n"
            "        (raw / 'twice').touch(); 1 / 0\n"
            "    (public / 'log').write_text((raw / 'log').read_text())\n"
        )
        with pytest.raises(TaskError, match="ZeroDivisionError"):
            prepare(tmp_path, broken)
        assert (prepare(tmp_path, broken).public / "log").read_text() == "x"

    def test_goes_on_from_what_a_failed_one_has_fetched(self, tmp_path: Path) -> None:
        flaky = (
            "def download(raw):\n    file = raw / 'parts'\n    file.open('a').write('x')\n"
            "    if len(file.read_text()) < 3: raise ConnectionResetError('lost')\n"
            "def build(raw, public, private):\n"
            "    (public / 'parts').write_text((raw / 'parts').read_text())\n"
        )
        for _ in range(2):
            with pytest.raises(InfraError, match="ConnectionResetError: lost"):
                prepare(tmp_path, flaky)
        assert (prepare(tmp_path, flaky).public / "parts").read_text() == "xxx"

    @pytest.mark.parametrize(
        "failure",
        [
            "raise ConnectionRefusedError('no')",
            "raise TimeoutError('no')",
            "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/none')",
            "import socket; socket.getaddrinfo('no-such-host.invalid', 80)",
            "raise OSError(28, 'No space left on device')",
        ],
    )
    def test_a_failure_of_network_or_disk_is_nobodys_fault(
        self, tmp_path: Path, failure: str
    ) -> None:
        with pytest.raises(InfraError, match=r"prepare\.py: \w+: "):
            prepare(tmp_path, f"def download(raw):\n    {failure}\n{self.BUILD}")

    def test_what_the_author_says_is_missing_is_a_skip_with_the_remedy(
        self, tmp_path: Path
    ) -> None:
        text = (
            "from pytest_mlab import Unavailable\n"
            "def download(raw):\n    raise Unavailable('apt install dataset-fashion-mnist')\n"
        )
        with pytest.raises(Unavailable, match=r"^apt install dataset-fashion-mnist$"):
            prepare(tmp_path, text + self.BUILD)


class TestFaultsOfTheAuthor:
    @pytest.mark.parametrize(
        ("preparer", "message"),
        [
            ("def build(raw, public, private):\n    1 / 0\n", "ZeroDivisionError"),
            ("def build(raw, public, private):\n    open('none.csv')\n", "FileNotFoundError"),
            ("def build(raw, public):\n    pass\n", "TypeError"),
            ("import no_such_module\n", "ModuleNotFoundError"),
            ("def build(raw\n", "SyntaxError"),
            ("x = 1\n", "has no attribute 'build'"),
            ("import sys\ndef build(raw, public, private):\n    sys.exit(3)\n", "exit code 3"),
            ("import os\ndef build(raw, public, private):\n    os.abort()\n", "SIGABRT"),
        ],
    )
    def test_are_told_with_the_file_and_what_happened(
        self, tmp_path: Path, cache: Path, preparer: str, message: str
    ) -> None:
        with pytest.raises(TaskError) as error:
            prepare(tmp_path, preparer)
        assert str(error.value).startswith(str(tmp_path / "threshold" / "prepare.py"))
        assert message in str(error.value)
        assert finished(cache) == []

    def test_preparing_is_bounded_in_time(self, tmp_path: Path) -> None:
        endless = "import time\ndef build(raw, public, private):\n    time.sleep(60)\n"
        with pytest.raises(TaskError, match=r"within \[limits\] preparing_seconds = 0.5"):
            prepare(tmp_path, endless, limits={"preparing_seconds": 0.5})


class TestRequiredPackages:
    def test_missing_ones_are_named_with_pips_command(self, tmp_path: Path) -> None:
        with pytest.raises(
            Unavailable, match=r"task threshold needs .*pip install no-such-package"
        ):
            prepare(tmp_path, resources=MISSING)

    def test_are_needed_by_the_starter_too_when_the_data_are_there(self, tmp_path: Path) -> None:
        prepare(tmp_path)
        with pytest.raises(Unavailable):
            prepare(tmp_path, resources=MISSING)

    def test_are_asked_for_before_preparing_apart(self, tmp_path: Path) -> None:
        task = load(tmp_path, resources=MISSING)
        with pytest.raises(Unavailable):
            prepare_apart(task, tmp_path / "apart")
