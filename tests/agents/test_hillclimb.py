"""The hill climber: general, deterministic, and not fooled by what is not a validation figure."""

from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents.hillclimb import PATIENCE, HillclimbAgent, find_figure
from pytest_mlab.environment import Limits
from pytest_mlab.results import Result
from pytest_mlab.steps import Step
from pytest_mlab.trial import run_trial
from pytest_mlab.world import open_environment
from tests.folders import STARTER, load
from tests.worlds import make_setup

MINIMIZED = STARTER.replace(
    'print(f"validation accuracy: {right / len(train):.4f}")',
    'print(f"validation error: {1 - right / len(train):.4f}")',
)


def climb(
    folder: Path, limits: Limits | None = None, *, seed: int = 0, **changes: Any
) -> tuple[Result, tuple[Step, ...]]:
    """Let it climb on a task made with ``changes``."""
    setup = make_setup(folder / "trial", load(folder, **changes), limits, seed=seed)
    with open_environment(setup, ACTIONS) as environment:
        result = run_trial(setup, HillclimbAgent(), environment)
        return result, environment.steps


def actions(steps: tuple[Step, ...]) -> list[tuple[str, dict[str, Any]]]:
    return [(step.action, step.arguments) for step in steps]


def test_it_succeeds_on_a_task_that_it_has_never_met(tmp_path: Path) -> None:
    result, steps = climb(tmp_path)
    assert (result.status, result.stop, result.score) == ("success", "submitted", 1.0)
    assert result.steps == len(steps) <= 30


def test_it_climbs_down_where_less_is_better(tmp_path: Path) -> None:
    scorer = (
        "from pytest_mlab.submission import read_answers, read_classes\n"
        "def score(submission, private):\n"
        "    answers = read_answers(private / 'labels.csv', 'label')\n"
        "    labels = read_classes(submission, 'label', answers.keys(), ['0', '1'])\n"
        "    return sum(a != b for a, b in zip(labels, answers.values())) / len(answers)\n"
    )
    result, _ = climb(
        tmp_path,
        files={"workspace/train.py": MINIMIZED, "score.py": scorer},
        metric={"name": "error", "goal": "minimize", "bound": None},
        baseline={"score": 0.3},
    )
    assert (result.status, result.score) == ("success", 0.0)


def test_it_does_the_same_for_the_same_seed(tmp_path: Path) -> None:
    first, second, other = (
        actions(climb(tmp_path / name, seed=seed)[1])
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == second
    assert first != other


def test_it_hands_in_what_is_best_by_its_own_validation(tmp_path: Path) -> None:
    """It cannot see the hidden score: here the validation figure points the other way."""
    misleading = STARTER.replace("{right / len(train):.4f}", "{CUT}")
    result, _ = climb(
        tmp_path, Limits(seconds=60, steps=12), files={"workspace/train.py": misleading}
    )
    assert (result.status, result.stop) == ("below-threshold", "submitted")
    assert result.score is not None
    assert result.score < 0.7


class TestWithinItsLimits:
    @pytest.mark.parametrize("steps", [3, 5, 6, 9])
    def test_of_steps_it_submits_in_time(self, tmp_path: Path, steps: int) -> None:
        result, _ = climb(tmp_path, Limits(seconds=60, steps=steps))
        assert result.steps <= steps
        assert result.valid
        if steps >= 5:
            assert result.stop == "submitted"

    def test_of_time_it_submits_in_time(self, tmp_path: Path) -> None:
        slow = STARTER + "import time; time.sleep(0.3)\n"
        result, _ = climb(
            tmp_path, Limits(seconds=4, steps=500), files={"workspace/train.py": slow}
        )
        assert (result.stop, result.valid) == ("submitted", True)

    def test_it_is_content_when_nothing_is_better(self, tmp_path: Path) -> None:
        hopeless = "A = 3\nB = 5\nC = 7\nprint('validation accuracy: 0.5')\n"
        result, steps = climb(
            tmp_path, Limits(seconds=60, steps=500), files={"workspace/train.py": hopeless}
        )
        assert result.stop == "submitted"
        assert sum(name == "Write File" for name, _ in actions(steps)) == PATIENCE + 1


@pytest.mark.parametrize(
    "starter",
    [
        "raise SystemExit('broken')\n",
        "def f(:\n",
        "",
        "print('no figure here')\n",
        "print('validation accuracy: nan')\n",
    ],
    ids=["fails", "does not parse", "empty", "no figure", "nan"],
)
def test_a_starter_that_it_cannot_improve_is_handed_in_as_it_is(
    tmp_path: Path, starter: str
) -> None:
    result, steps = climb(tmp_path, files={"workspace/train.py": starter})
    assert (result.status, result.stop) == ("no-submission", "submitted")
    assert actions(steps)[-1][0] == "Final Answer"


class TestFindingTheFigure:
    @pytest.mark.parametrize(
        ("output", "figure"),
        [
            ("validation accuracy: 0.913", 0.913),
            ("Validation MAE: 1.5e-3", 0.0015),
            ("valid loss 3", 3.0),
            ("epoch 1 validation accuracy: 0.5\nepoch 2 validation accuracy: 0.75", 0.75),
            ("training accuracy: 0.99\nvalidation accuracy: -0.25\ndone in 3 s", -0.25),
            ("accuracy: 0.5\n", 0.5),
            ("Accuracy = .5", 0.5),
        ],
    )
    def test_it_is_the_last_number_of_the_last_line_that_speaks_of_validation(
        self, output: str, figure: float
    ) -> None:
        assert find_figure(output, "accuracy") == figure

    @pytest.mark.parametrize("output", ["", "loss: 3", "validation accuracy: high", "0.5"])
    def test_without_one_there_is_none(self, output: str) -> None:
        assert find_figure(output, "accuracy") is None

    def test_a_warning_about_invalid_values_is_none(self) -> None:
        output = (
            "standard output:\nvalidation accuracy: 0.913\n"
            "standard error:\ntrain.py:12: RuntimeWarning: invalid value encountered in divide"
        )
        assert find_figure(output, "accuracy") == 0.913

    def test_infinity_is_no_figure(self) -> None:
        assert find_figure("validation accuracy: 1e999", "accuracy") is None

    def test_a_metric_may_have_any_name(self) -> None:
        assert find_figure("R^2 (adj.) = 0.5", "R^2 (adj.)") == 0.5
