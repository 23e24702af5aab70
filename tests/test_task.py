"""A task knows what counts as an improvement, and which task it is."""

from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.resources import Demand
from pytest_mlab.task import Metric, Resources
from tests.folders import load


class TestImprovement:
    """Positive is better, whichever the direction."""

    @pytest.mark.parametrize(
        ("goal", "score", "baseline", "improvement"),
        [
            ("maximize", 0.77, 0.7, 0.1),
            ("maximize", 0.63, 0.7, -0.1),
            ("minimize", 90, 100, 0.1),
            ("minimize", 110, 100, -0.1),
            ("maximize", -0.5, -1.0, 0.5),
            ("minimize", -1.5, -1.0, 0.5),
        ],
    )
    def test_is_the_fraction_of_the_baseline_gained(
        self, goal: Any, score: float, baseline: float, improvement: float
    ) -> None:
        metric = Metric("m", goal)
        assert metric.improvement(score, baseline) == pytest.approx(improvement)
        assert metric.improvement(metric.target(baseline, 0.1), baseline) == pytest.approx(0.1)

    @pytest.mark.parametrize(("score", "baseline"), [(1.7e308, 1e-9), (1.7e308, -1.7e308)])
    def test_is_finite_whatever_is_handed_in(self, score: float, baseline: float) -> None:
        assert Metric("m", "maximize").improvement(score, baseline) == 1e9
        assert Metric("m", "minimize").improvement(score, baseline) == -1e9


class TestDigest:
    """A result of another digest is a result of another task."""

    def test_changes_with_every_file_and_name(self, tmp_path: Path) -> None:
        digests = {
            load(tmp_path / str(number), files=files).digest
            for number, files in enumerate(
                [{}, {"score.py": "#"}, {"extra.txt": ""}, {"other.txt": ""}]
            )
        }
        assert len(digests) == 4

    def test_is_that_of_the_content_not_of_the_place(self, tmp_path: Path) -> None:
        leftovers = {"__pycache__/score.pyc": "x", ".ipynb_checkpoints/a": "x"}
        one, two = load(tmp_path / "a"), load(tmp_path / "b", files=leftovers)
        assert one.digest == two.digest

    def test_of_the_data_changes_with_what_preparing_reads_alone(self, tmp_path: Path) -> None:
        first = load(tmp_path / "a").data_digest
        apart = {"score.py": "#", "README.md": "", "solution/x": ""}
        assert load(tmp_path / "b", files=apart, title="New").data_digest == first
        for name in ("prepare.py", "helper.py", "tables/source.csv", "workspace/train.py"):
            assert load(tmp_path / name, files={name: "#"}).data_digest != first, name


class TestResources:
    @pytest.mark.parametrize(("devices", "gpus"), [(0, 2), (1, 2), (3, 2)])
    def test_ask_for_devices_that_are_needed(self, devices: int, gpus: int) -> None:
        assert Resources(gpus=2, cpus=1).demand(devices) == Demand(gpus, 2.0, 1)

    @pytest.mark.parametrize(("devices", "gpus"), [(0, 0), (1, 1), (3, 2)])
    def test_make_do_with_fewer_where_these_are_optional(self, devices: int, gpus: int) -> None:
        resources = Resources(gpus=2, gpus_optional=True, cpus=1)
        assert resources.demand(devices) == Demand(gpus, 2.0, 1)
