"""A trace as a reader steps through it, whatever state it is in."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.curves import StepScore, write_curve
from pytest_mlab.history import History
from pytest_mlab.reporting.steps import MOST, read_steps
from pytest_mlab.runs import HISTORY
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
    write_trace(
        tmp_path,
        ("start", {"task": "digits"}),
        ("note", {"Thought": "look first", "Fact Check": None}),
        ("step", act("List Files", "train.py", dir_path=".")[1] | {"usage": usage}),
        act("Final Answer", "handed in", final_answer="done"),
        ("note", {"gave_up": "enough"}),
        ("end", {"stop": "crashed", "crash": "Traceback"}),
    )

    viewed = read_steps(tmp_path)

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


def test_each_step_shows_what_it_changed_and_what_its_submission_scored(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "train.py").write_text("x = 1\n")
    history = History(tmp_path / HISTORY, workspace)
    history.record("start")
    (workspace / "train.py").write_text("x = 2\n")
    edited = history.record("step 1: Write File train.py")
    looked = history.record("step 2: List Files")
    write_trace(
        tmp_path,
        ("step", act("Write File")[1] | {"commit": edited}),
        ("step", act("List Files")[1] | {"commit": looked}),
    )
    figures: dict[str, Any] = {"commit": edited, "baseline": 1.0, "best": 1.2}
    write_curve(
        tmp_path,
        [
            StepScore(step=1, score=1.2, improvement=0.2, **figures),
            StepScore(step=2, score=None, improvement=None, detail="no\x00t sound", **figures),
            StepScore(step=7, score=1.2, improvement=0.2, **figures),
        ],
    )

    first, second = read_steps(tmp_path).steps

    assert first.diff.startswith("=== train.py\n")
    assert first.diff.endswith("-x = 1\n+x = 2\n")
    assert second.diff == ""
    assert first.score == "score 1.2 (+20.0 %)"
    assert second.score == "submission without a score: no⟨U+0000⟩t sound"


def test_a_damaged_history_and_damaged_scores_are_said(tmp_path: Path) -> None:
    write_trace(tmp_path, act("List Files", "a.py"))
    (tmp_path / HISTORY / "refs" / "heads").mkdir(parents=True)
    (tmp_path / HISTORY / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / HISTORY / "refs" / "heads" / "main").write_text("f" * 40)
    (tmp_path / "scores.jsonl").write_text('{"step": 1, "sco')

    viewed = read_steps(tmp_path)

    assert [step.output for step in viewed.steps] == ["a.py"]
    assert "The history cannot be read: " in viewed.problem
    assert "The scores of the steps cannot be read: " in viewed.problem


def test_what_is_long_is_shortened_and_what_is_unseen_shown(tmp_path: Path) -> None:
    write_trace(
        tmp_path,
        act("Read File", "x" * 10 * MOST, file_name="\x1b[2J\u202e"),
        act("Write File", "", file_name="big", content="y" * 10 * MOST),
    )

    viewed = read_steps(tmp_path)

    assert len(viewed.steps[0].output) < MOST + 100
    assert viewed.steps[0].arguments == {"file_name": "⟨U+202E⟩"}
    assert viewed.size < 4 * MOST


def test_a_trace_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, act("List Files", "a"), act("List Files", "b"))
    trace.write_bytes(trace.read_bytes()[:-20])

    viewed = read_steps(tmp_path)

    assert [step.output for step in viewed.steps] == ["a"]
    assert viewed.problem == "The last line of the trace is cut off."


def test_lines_that_cannot_be_read_are_named_and_passed_over(tmp_path: Path) -> None:
    trace = write_trace(tmp_path, act("List Files", "a"), act("List Files", "b"))
    first, second = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(first + b'{"event": "st\n' + b"[1]\n" + b"\xff\n" * 9 + second)

    viewed = read_steps(tmp_path)

    assert [step.output for step in viewed.steps] == ["a", "b"]
    assert viewed.problem == "Lines of the trace that cannot be read: 2, 3, 4, 5, 6, …."


def test_a_trace_that_is_not_there_is_said(tmp_path: Path) -> None:
    viewed = read_steps(tmp_path)

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
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = "".join(json.dumps(event) + "\n" for event in events)
    (folder / "trace.jsonl").write_text(text, encoding="utf-8")

    viewed = read_steps(folder)

    assert len(viewed.steps) == sum(event["event"] == "step" for event in events)
    json.dumps([vars(step) for step in viewed.steps], allow_nan=False).encode()
