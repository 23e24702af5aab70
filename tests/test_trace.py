"""A trace is readable up to its last whole line, whatever killed the writer."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_mlab.trace import Trace, read_trace
from tests.processes import start_python, wait_until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def write(path: Path, **fields: Any) -> dict[str, Any]:
    """Write one event to a fresh trace and read it back."""
    path.unlink(missing_ok=True)
    trace = Trace(path)
    trace.append("step", **fields)
    trace.close()
    (event,) = read_trace(path)
    return event


def test_events_are_there_as_soon_as_they_happened(path: Path) -> None:
    trace = Trace(path)
    for number in range(3):
        trace.append("step", number=number)
        assert [event["number"] for event in read_trace(path)] == list(range(number + 1))
    seconds = [event["seconds"] for event in read_trace(path)]
    assert seconds == sorted(seconds)
    trace.close()


def test_each_line_is_a_json_object(path: Path) -> None:
    write(path, text="one\ntwo\r\u2028three")
    (line,) = path.read_bytes().splitlines()
    assert json.loads(line)["text"] == "one\ntwo\r\u2028three"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(text=st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_is_read_back_as_it_was(path: Path, text: str) -> None:
    assert write(path, text=text)["text"] == text


def test_what_is_no_json_value_goes_in_as_its_repr(path: Path) -> None:
    endless: list[object] = []
    endless.append(endless)
    assert write(path, value=Path("a"))["value"] == repr(Path("a"))
    assert write(path, arguments={(1, 2): "x"})["arguments"] == "{(1, 2): 'x'}"
    assert write(path, arguments={"x": endless})["arguments"] == "{'x': [[...]]}"


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_last_line_that_was_cut_off_is_passed_over(path: Path, cut: int) -> None:
    trace = Trace(path)
    trace.append("first")
    trace.append("last", text="ééé")
    trace.close()
    path.write_bytes(path.read_bytes()[:-cut])
    assert [event["event"] for event in read_trace(path)] == ["first"]


def test_a_killed_writer_leaves_every_event_it_had_written(path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom pytest_mlab.trace import Trace\n"
        "trace = Trace(Path(sys.argv[1]))\nnumber = 0\n"
        "while True:\n    trace.append('step', number=number, text='é' * 50_000)\n    number += 1\n"
    )
    process = start_python(code, path)
    assert wait_until(lambda: path.exists() and path.stat().st_size > 2_000_000)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    numbers = [event["number"] for event in read_trace(path)]
    assert len(numbers) >= 20
    assert numbers == list(range(len(numbers)))
