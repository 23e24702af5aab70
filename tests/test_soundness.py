"""What cannot be right in a task is refused before an agent tries it."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from pytest_mlab import TaskError
from pytest_mlab.soundness import chance_of_luck
from pytest_mlab.taskfile import load_task
from tests.folders import load, make_task


def refusal(folder: Path) -> str:
    """Give the message with which a folder is refused."""
    with pytest.raises(TaskError) as error:
        load_task(folder)
    return str(error.value)


class TestTheTargetHasToBeAttainable:
    """A success is an improvement by more than 10 %; the metric must leave room for that."""

    @pytest.mark.parametrize(
        ("goal", "score", "bound"),
        [
            ("maximize", 0.95, 1.0),
            ("maximize", 10.0, 11.0),
            ("maximize", 1.2, 1.0),
            ("minimize", 1.0, 0.9),
            ("minimize", 1.0, 0.95),
            ("maximize", -1.0, -0.9),
        ],
    )
    def test_a_target_at_or_beyond_the_bound_is_refused(
        self, tmp_path: Path, goal: str, score: float, bound: float
    ) -> None:
        metric = {"goal": goal, "bound": bound}
        folder = make_task(tmp_path, metric=metric, baseline={"score": score})
        assert f"beyond the metric's bound of {bound:g}; ship a weaker starter" in refusal(folder)

    @pytest.mark.parametrize(
        ("goal", "score", "bound"),
        [("maximize", 0.9, 1.0), ("minimize", 5.0, 0.0), ("maximize", -1.0, 0.0)],
    )
    def test_a_target_short_of_the_bound_is_fine(
        self, tmp_path: Path, goal: str, score: float, bound: float
    ) -> None:
        load(tmp_path, metric={"goal": goal, "bound": bound}, baseline={"score": score})


class TestTheThresholdHasToClearTheNoise:
    """A do-nothing agent may succeed by luck in one trial of a hundred at most."""

    def test_a_noisy_baseline_is_refused_with_the_probability(self, tmp_path: Path) -> None:
        folder = make_task(tmp_path, baseline={"std": 0.04, "runs": 5})
        message = refusal(folder)
        assert "[baseline] std is 0.04 over 5 runs: a do-nothing agent would succeed" in message
        assert "until it is at most 1%" in message

    def test_a_single_run_says_nothing_of_the_noise(self, tmp_path: Path) -> None:
        assert "probability of 50.0%" in refusal(
            make_task(tmp_path, baseline={"std": 0.001, "runs": 1})
        )

    def test_a_deterministic_starter_has_no_luck(self, tmp_path: Path) -> None:
        assert chance_of_luck(load(tmp_path, baseline={"std": 0, "runs": 1}), 0.1) == 0

    @pytest.mark.parametrize("runs", [2, 3, 5, 8, 30])
    @pytest.mark.parametrize("goal", ["maximize", "minimize"])
    def test_the_chance_is_that_of_students_t(self, tmp_path: Path, goal: str, runs: int) -> None:
        std = 0.0007
        metric = {"goal": goal, "bound": None}
        task = load(tmp_path, metric=metric, baseline={"score": -0.7, "std": std, "runs": runs})
        scale = std * (1 + 1 / runs) ** 0.5
        for threshold in (0.0001, 0.001, 0.005):
            expected = stats.t.sf(0.7 * threshold, df=runs - 1, scale=scale)
            assert chance_of_luck(task, threshold) == pytest.approx(expected, abs=1e-12)

    def test_the_chance_is_how_often_the_next_run_beats_what_its_author_measured(
        self, tmp_path: Path
    ) -> None:
        """Authors measure five runs each; the next run is a do-nothing agent's."""
        task = load(tmp_path, metric={"bound": None}, baseline={"score": 1, "std": 0.02, "runs": 5})
        deviations, luck = 3.0, np.random.default_rng(1)
        seen, following = luck.normal(100, 5, (100_000, 5)), luck.normal(100, 5, 100_000)
        gaps = deviations * seen.std(axis=1, ddof=1)
        successes = np.mean(following > seen.mean(axis=1) + gaps)
        chance = chance_of_luck(task, threshold=deviations * 0.02)
        assert successes == pytest.approx(chance, rel=0.1)

    def test_a_measured_baselines_spread_is_relative(self, tmp_path: Path) -> None:
        baseline = {"score": 100, "std": 0.01, "runs": 5, "measured": True}
        task = load(tmp_path, metric={"bound": None, "goal": "minimize"}, baseline=baseline)
        scale = 0.01 * (1 + 1 / 5) ** 0.5
        assert chance_of_luck(task, 0.1) == pytest.approx(stats.t.sf(0.1, df=4, scale=scale))


@pytest.mark.parametrize("image", ["", "--privileged"])
def test_an_image_that_is_no_name_is_refused(tmp_path: Path, image: str) -> None:
    message = refusal(make_task(tmp_path, resources={"image": image}))
    assert f'[resources] image is "{image}"; name an image' in message
