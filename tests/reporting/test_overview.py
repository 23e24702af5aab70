"""What a session is at, read from what its workers have written down."""

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from pytest_mlab.activity import Activity, read_activities, remove_activities, write_activity
from pytest_mlab.reporting.overview import (
    Overview,
    Running,
    TraceFollower,
    render_overview,
)
from pytest_mlab.results import Identity, Usage
from pytest_mlab.trace import Trace


def identity(task: str = "digits") -> Identity:
    """Give the identity of a trial."""
    return Identity(
        task=task, agent="react", llm="gpt-4", trial=3, nodeid=task, task_digest="d", seed=0
    )


def activity(**changes: object) -> Activity:
    """Give what a worker says."""
    stated = {"worker": "gw3", "nodeid": "digits", "folder": "f", "max_steps": 50, **changes}
    return Activity(**stated)  # type: ignore[arg-type]  # what a test names


def write_step(trace: Trace, output: str, action: str = "Execute Script", **more: object) -> None:
    """Append a step as an environment does."""
    trace.append("step", action=action, arguments={}, observation=output, ok=True, **more)


class TestFollowing:
    def test_a_trace_that_is_not_there_yet_says_nothing(self, tmp_path: Path) -> None:
        follower = TraceFollower(tmp_path / "trace.jsonl", "accuracy")
        follower.follow()
        assert (follower.steps, follower.figure) == (0, None)

    def test_each_step_is_taken_in_once(self, tmp_path: Path) -> None:
        trace = Trace(tmp_path / "trace.jsonl")
        follower = TraceFollower(tmp_path / "trace.jsonl", "accuracy")
        for number in range(3):
            write_step(trace, f"validation accuracy: 0.{number + 1}", usage={"input_tokens": 5})
            follower.follow()
            follower.follow()
        assert (follower.steps, follower.figure) == (3, 0.3)
        assert follower.usage == Usage(input_tokens=15)
        trace.append("end", stop="steps", crash="")
        follower.follow()
        assert follower.over
        trace.close()

    def test_a_line_that_is_being_written_is_left_for_later(self, tmp_path: Path) -> None:
        file = tmp_path / "trace.jsonl"
        record = {"event": "step", "action": "List Files", "observation": "a", "ok": True}
        line = json.dumps(record) + "\n"
        file.write_text(line + line[:20])
        follower = TraceFollower(file, "accuracy")
        follower.follow()
        assert follower.steps == 1
        file.write_text(line + line)
        follower.follow()
        assert follower.steps == 2

    def test_figures_are_those_that_scripts_print(self, tmp_path: Path) -> None:
        trace = Trace(tmp_path / "trace.jsonl")
        write_step(trace, "validation accuracy: 0.9")
        write_step(trace, "validation accuracy: 0.99", action="Read File")
        write_step(trace, "nothing of interest")
        follower = TraceFollower(tmp_path / "trace.jsonl", "accuracy")
        follower.follow()
        assert follower.figure == 0.9
        trace.close()


class TestActivities:
    def test_are_what_was_said_last(self, tmp_path: Path) -> None:
        write_activity(tmp_path, activity())
        said = activity(phase="waiting", lacks=("gpus",), since=1.0)
        write_activity(tmp_path, said)
        assert list(read_activities(tmp_path)) == [said]
        remove_activities(tmp_path)
        assert list(read_activities(tmp_path)) == []


def overview(rows: int, **changes: object) -> Overview:
    """Give an overview of some trials, each at its second step."""
    trace = TraceFollower(Path("t"), "accuracy", steps=2, figure=0.913)
    acting = activity(phase="acting", devices=("0", "1"))
    running = [Running(identity(), 75.0, acting, trace) for _ in range(rows)]
    stated = {"done": 12, "planned": 104, "successes": 1, "usage": Usage(900, 100, 0, 1.2)}
    return Overview(**{**stated, "left": 2100.0, "running": running, **changes})  # type: ignore[arg-type]  # as above


class TestShowing:
    def test_all_is_said_in_lines(self) -> None:
        assert overview(1).lines() == [
            "mlab: 12 of 104 trials done, 1 success, 1 running, 1,000 tokens, 1.20 USD, "
            "about 35 min left",
            "  gw3  digits · react · gpt-4 · trial 3  step 2/50  75 s  GPU 0,1  validation 0.913",
        ]

    def test_what_is_not_known_is_not_said(self) -> None:
        bare = Running(identity(), 1.0, None, None)
        lines = overview(0, usage=Usage(), left=None, running=[bare]).lines()
        assert lines[0] == "mlab: 12 of 104 trials done, 1 success, 1 running"
        assert lines[1] == "  digits · react · gpt-4 · trial 3  starts  1.0 s"

    @pytest.mark.parametrize(
        ("said", "over", "words"),
        [
            (activity(), False, "preparing"),
            (
                activity(phase="waiting", lacks=("gpus", "memory_gb")),
                False,
                "waits for GPUs, memory",
            ),
            (activity(phase="acting"), False, "step 0/50"),
            (activity(phase="acting"), True, "scoring"),
        ],
    )
    def test_a_trial_says_what_it_is_at(self, said: Activity, over: bool, words: str) -> None:
        trace = TraceFollower(Path("t"), "accuracy", over=over)
        assert Running(identity(), 1.0, said, trace).cells[2] == words

    @pytest.mark.parametrize("width", [20, 40, 80, 200])
    @pytest.mark.parametrize("height", [1, 2, 5, 30])
    def test_it_fits_the_terminal(self, width: int, height: int) -> None:
        lines = render_overview(overview(9), width, height, color=False)
        assert len(lines) <= height
        assert all(cell_len(line) <= width for line in lines)

    def test_what_does_not_fit_is_counted(self) -> None:
        assert render_overview(overview(9), 100, 5, color=False)[-1] == "… and 6 more"

    def test_colors_are_left_out_where_there_are_none(self) -> None:
        assert "\x1b" not in "".join(render_overview(overview(2), 100, 5, color=False))
        assert "\x1b[" in "".join(render_overview(overview(2), 100, 5, color=True))

    def test_a_name_that_looks_like_markup_is_shown_as_it_is(self) -> None:
        odd = Running(identity("[bold]x"), 1.0, None, None)
        (_, row) = render_overview(overview(0, running=[odd]), 100, 5, color=False)
        assert "[bold]x" in row
