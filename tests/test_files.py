"""A file is written whole or not at all."""

import json
import signal
from pathlib import Path

import pytest

from pytest_mlab.files import write_atomically
from tests.processes import start_python, wait_until


def test_the_folder_is_made_where_there_is_none(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "b.txt", "é\n")
    assert (tmp_path / "a" / "b.txt").read_bytes() == "é\n".encode()


def test_a_file_is_replaced_and_readable_by_others(tmp_path: Path) -> None:
    for text in ("one", "two"):
        write_atomically(tmp_path / "a.txt", text)
    assert (tmp_path / "a.txt").read_text() == "two"
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644
    assert len(list(tmp_path.iterdir())) == 1


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_json_with_half_a_surrogate_pair_is_read_back_as_it_was(tmp_path: Path) -> None:
    text = "half \ud800"
    write_atomically(tmp_path / "a.json", json.dumps(text, ensure_ascii=False))
    assert json.loads((tmp_path / "a.json").read_text()) == text


def test_a_killed_writer_leaves_the_file_as_it_was_before_or_after(tmp_path: Path) -> None:
    code = (
        "import itertools, sys\nfrom pathlib import Path\n"
        "from pytest_mlab.files import write_atomically\n"
        "for number in itertools.count():\n"
        "    write_atomically(Path(sys.argv[1]), str(number % 10) * 1_000_000)\n"
    )
    file = tmp_path / "a.txt"
    for _ in range(3):
        file.unlink(missing_ok=True)
        process = start_python(code, file)
        assert wait_until(file.exists)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        text = file.read_text()
        assert (len(text), len(set(text))) == (1_000_000, 1)
