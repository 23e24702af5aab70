"""What an agent sees, what it is charged for, and when its turn is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab.actions import ACTIONS, Action
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.exceptions import LimitReached, Submitted
from pytest_mlab.trace import read_trace
from tests.folders import INSTRUCTION
from tests.worlds import open_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Environment]:
    with open_world(tmp_path, Limits(seconds=30, steps=3)) as environment:
        yield environment


def look(world: Environment) -> str:
    """Do something harmless."""
    return world.act("List Files", dir_path=".").text


def test_it_shows_the_problem_the_actions_and_what_remains(world: Environment) -> None:
    assert world.instruction == INSTRUCTION
    assert world.task.name == "threshold"
    assert [action.name for action in world.actions] == [action.name for action in ACTIONS]
    assert 29 < world.remaining.seconds <= 30
    assert (world.remaining.steps, world.remaining.tokens, world.remaining.cost) == (3, None, None)


def test_each_action_is_a_step_and_recorded_as_it_happens(
    world: Environment, tmp_path: Path
) -> None:
    look(world)
    world.act("Write File", file_name="a.txt", content="1")
    assert [step.action for step in world.steps] == ["List Files", "Write File"]
    assert world.steps[1].arguments == {"file_name": "a.txt", "content": "1"}
    assert world.steps[1].observation.text == "a.txt is written."
    assert world.remaining.steps == 1
    start, *steps = read_trace(tmp_path / "trial" / "trace.jsonl")
    assert (start["event"], start["task"], start["sandbox"]) == ("start", "threshold", "none")
    assert [(step["action"], step["ok"]) for step in steps] == [
        ("List Files", True),
        ("Write File", True),
    ]


def test_past_the_limit_of_steps_there_is_no_action(world: Environment) -> None:
    for _ in range(3):
        look(world)
    for _ in range(2):
        with pytest.raises(LimitReached) as reached:
            look(world)
        assert reached.value.limit == "steps"
    assert len(world.steps) == 3


def test_past_the_limit_of_time_there_is_no_action(tmp_path: Path) -> None:
    with open_world(tmp_path, Limits(seconds=1e-6, steps=3)) as world:
        with pytest.raises(LimitReached) as reached:
            look(world)
        assert reached.value.limit == "time"
        assert world.remaining.seconds == 0


def test_an_unknown_action_is_a_charged_step_that_names_those_there_are(
    world: Environment,
) -> None:
    observation = world.act("Run Shell", command="ls")
    assert not observation.ok
    assert 'there is no action "Run Shell"; there are: List Files, Read File,' in observation.text
    assert world.remaining.steps == 2


def test_wrong_arguments_are_a_charged_step_too(world: Environment) -> None:
    assert not world.act("List Files", folder=".").ok
    assert world.remaining.steps == 2


def test_an_action_that_is_not_charged_costs_no_step(tmp_path: Path) -> None:
    free = Action("Think", "", (), lambda bench: "hm", charged=False)
    with open_world(tmp_path, Limits(seconds=30, steps=1), actions=[free]) as world:
        for _ in range(3):
            assert world.act("Think").text == "hm"
        assert (world.remaining.steps, world.charged, len(world.steps)) == (1, 0, 3)


class TestFinalAnswer:
    def test_ends_the_turn(self, world: Environment) -> None:
        with pytest.raises(Submitted):
            world.act("Final Answer", final_answer="done")
        assert world.steps[-1].action == "Final Answer"

    def test_with_wrong_arguments_does_not(self, world: Environment) -> None:
        assert not world.act("Final Answer").ok
        look(world)

    def test_leaves_nothing_to_do_for_an_agent_that_goes_on(
        self, world: Environment, tmp_path: Path
    ) -> None:
        with pytest.raises(Submitted):
            world.act("Final Answer", final_answer="done")
        with pytest.raises(Submitted):
            world.act("Write File", file_name="train.py", content="changed my mind")
        assert "CUT = 1" in (tmp_path / "trial" / "workspace" / "train.py").read_text()
        assert len(world.steps) == 1

    def test_is_no_exception_that_an_agent_would_catch(self, world: Environment) -> None:
        assert not issubclass(Submitted, Exception)
        assert not issubclass(LimitReached, Exception)


def test_the_clock_runs_from_start_to_end(tmp_path: Path) -> None:
    with open_world(tmp_path) as world:
        first = world.seconds
        assert world.seconds > first
        world.end("gave-up")
        assert world.seconds == world.seconds
    *_, end = read_trace(tmp_path / "trial" / "trace.jsonl")
    assert (end["event"], end["stop"], end["crash"]) == ("end", "gave-up", "")
