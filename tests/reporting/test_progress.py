"""The line about a task that is being prepared."""

import io
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab.reporting.progress import show_preparing


def test_says_how_much_has_come(tmp_path: Path) -> None:
    raw, data, other = tmp_path / "raw", tmp_path / "data", tmp_path / "other"
    other.mkdir()
    data.mkdir()
    (data / "before").write_bytes(bytes(3_000_000))
    stream = io.StringIO()
    with show_preparing("digits", [raw, data], None, stream):
        (data / "public").mkdir()
        (data / "public" / "images").write_bytes(bytes(1_000_000))
        raw.mkdir()
        (raw / "images.gz").write_bytes(bytes(500_000))
        (other / "images").write_bytes(bytes(4_000_000))
    assert re.fullmatch(r"\nmlab: prepared digits: 1\.5 MB in \d\.\d s\n", stream.getvalue())


@pytest.fixture
def busy_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which, all the while, others prepare data and move them away."""
    over = threading.Event()

    def prepare() -> None:
        while not over.is_set():
            for number in range(20):
                (tmp_path / f"unfinished{number}" / "public").mkdir(parents=True)
            for number in range(20):
                shutil.rmtree(tmp_path / f"unfinished{number}")

    thread = threading.Thread(target=prepare)
    thread.start()
    yield tmp_path
    over.set()
    thread.join()


def test_does_not_mind_what_others_prepare_meanwhile(busy_folder: Path) -> None:
    stream = io.StringIO()
    for _ in range(200):
        with show_preparing("digits", [busy_folder], None, stream):
            pass
    assert stream.getvalue().count("prepared digits") == 200
