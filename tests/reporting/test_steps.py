"""A trace as a reader steps through it, whatever state it is in."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.reporting.steps import MOST, MOST_COMPARED, read_steps
from pytest_mlab.trace import Trace


def write_trace(path: Path, *events: tuple[str, dict[str, Any]]) -> Path:
    trace = Trace(path / "trace.jsonl")
    for event, fields in events:
        trace.append(event, **fields)
    trace.close()
    return path / "trace.jsonl"


def act(action: str, observation: str = "", **arguments: object) -> tuple[str, dict[str, Any]]:
    step = {"action": action, "arguments": arguments, "observation": observation, "ok": True}
    return "step", step


def test_thoughts_belong_to_the_step_that_follows(tmp_path: Path) -> None:
    usage = {"input_tokens": 90, "output_tokens": 10, "cached_tokens": 50}
    trace = write_trace(
        tmp_path,
        ("start", {"task": "digits"}),
        ("note", {"Thought": "look first", "Fact Check": None}),
        ("step", act("List Files", "train.py", dir_path=".")[1] | {"usage": usage}),
        act("Final Answer", "handed in", final_answer="done"),
        ("note", {"gave_up": "enough"}),
        ("end", {"stop": "crashed", "crash": "Traceback"}),
    )

    viewed = read_steps(trace)

    first, second = viewed.steps
    assert first.thoughts == {"Thought": "look first", "Fact Check": "null"}
    assert (first.action, first.arguments, first.output) == (
        "List Files",
        {"dir_path": "."},
        "train.py",
    )
    assert (first.tokens, second.tokens, second.thoughts) == (100, 0, {})
    assert viewed.last == {"gave_up": "enough", "crash": "Traceback"}
    assert viewed.problem == ""


def test_changes_are_told_by_the_action_or_by_what_was_known_of_the_file(tmp_path: Path) -> None:
    edited = "It is saved. The changes:\n--- before\n+++ train.py\n-x = 1\n+x = 2\n"
    trace = write_trace(
        tmp_path,
        act("Edit Script (AI)", edited, script_name="train.py"),
        act("Write File", "", file_name="new.py", content="a\nb\n"),
        act("Read File", "x = 2\ny = 3\n", file_name="train.py"),
        act("Write File", "", file_name="train.py", content="x = 2\ny = 4\n"),
        act("Append File", "", file_name="train.py", content="z = 5\n"),
        act("Write File", "", file_name="train.py", content="unknown before"),
    )

    diffs = [step.diff for step in read_steps(trace).steps]

    assert diffs[0].endswith("-x = 1\n+x = 2\n")
    assert read_steps(trace).steps[0].output == "It is saved."
    assert diffs[1:3] == ["", ""]
    assert diffs[3].splitlines()[2:] == ["@@ -1,2 +1,2 @@", " x = 2", "-y = 3", "+y = 4"]
    assert diffs[4] == "+z = 5\n"
    assert diffs[5] == ""


def test_a_failed_action_changes_nothing(tmp_path: Path) -> None:
    failed = act("Write File", "no such folder", file_name="a.py", content="1")
    failed[1]["ok"] = False
    trace = write_trace(
        tmp_path,
        act("Read File", "0", file_name="a.py"),
        failed,
        act("Write File", "", file_name="a.py", content="2"),
    )

    diffs = [step.diff for step in read_steps(trace).steps]

    assert diffs[1] == ""
    assert diffs[2].endswith("-0\n+2")


def test_what_is_long_is_shortened_and_what_is_unseen_shown(tmp_path: Path) -> None:
    trace = write_trace(
        tmp_path,
        act("Read File", "x" * 10 * MOST, file_name="\x1b[2J\u202e"),
        act("Read File", "y", file_name="big"),
        act("Write File", "", file_name="big", content="y" * MOST_COMPARED),
    )

    viewed = read_steps(trace)

    assert len(viewed.steps[0].output) < MOST + 100
    assert viewed.steps[0].arguments == {"file_name": "⟨U+202E⟩"}
    assert viewed.steps[2].diff == ""
    assert viewed.size < 4 * MOST


def test_a_trace_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, act("List Files", "a"), act("List Files", "b"))
    trace.write_bytes(trace.read_bytes()[:-20])

    viewed = read_steps(trace)

    assert [step.output for step in viewed.steps] == ["a"]
    assert viewed.problem == "The last line of the trace is cut off."


def test_lines_that_cannot_be_read_are_named_and_passed_over(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, act("List Files", "a"), act("List Files", "b"))
    first, second = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(first + b'{"event": "st\n' + b"[1]\n" + b"\xff\n" * 9 + second)

    viewed = read_steps(trace)

    assert [step.output for step in viewed.steps] == ["a", "b"]
    assert viewed.problem == "Lines of the trace that cannot be read: 2, 3, 4, 5, 6, …."


def test_a_trace_that_is_not_there_is_said(tmp_path: Path) -> None:
    viewed = read_steps(tmp_path / "trace.jsonl")

    assert viewed.steps == ()
    assert viewed.problem == "The trace cannot be read: No such file or directory."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"event": st.sampled_from(["step", "note", "end"])},
            optional=dict.fromkeys(
                ["action", "arguments", "observation", "ok", "usage", "seconds", "crash"], JSON
            ),
        )
    )
)
def test_no_record_of_any_shape_ends_the_reading(
    tmp_path_factory: object, events: list[dict[str, Any]]
) -> None:
    trace = Path(str(tmp_path_factory.getbasetemp())) / "any.jsonl"  # type: ignore[attr-defined]
    text = "".join(json.dumps(event) + "\n" for event in events)
    trace.write_text(text, encoding="utf-8")

    viewed = read_steps(trace)

    assert len(viewed.steps) == sum(event["event"] == "step" for event in events)
    json.dumps([vars(step) for step in viewed.steps], allow_nan=False).encode()
