"""A task folder is loaded, or refused with the file, the key and the remedy."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from pytest_mlab import TaskError
from pytest_mlab.task import Metric, chance_of_luck, load_task
from tests.folders import load, make_task


def refusal(folder: Path) -> str:
    """Give the message with which a folder is refused."""
    with pytest.raises(TaskError) as error:
        load_task(folder)
    return str(error.value)


def test_a_valid_folder_is_loaded_whole(tmp_path: Path) -> None:
    task = load(tmp_path, tags=["tabular"], resources={"requires": ["pandas>=2"]})
    assert (task.name, task.title, task.tags) == ("threshold", "Find the threshold", ("tabular",))
    assert task.instruction.startswith("Find the threshold above")
    assert (task.metric.name, task.metric.goal, task.metric.bound) == ("accuracy", "maximize", 1.0)
    assert (task.baseline.score, task.limits.steps) == (0.7, 30)
    assert task.resources.requires == ("pandas>=2",)
    assert task.scorer == tmp_path / "threshold" / "score.py"


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    files = {"prepare.py": None, "solution/train.py": None}
    task = load(tmp_path, files=files, limits=None, submission=None)
    assert (task.preparer, task.solution) == (None, None)
    assert (task.limits.seconds, task.limits.steps) == (18_000, 50)
    assert task.submission.file == "submission.csv"


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"format": "mlab/2"}, 'format is "mlab/2"; this version of pytest-mlab reads "mlab/1"'),
    ({"format": None}, "format is missing"),
    ({"title": None}, "title is missing; give a string in quotes"),
    ({"title": 3}, "title is 3; give a string in quotes"),
    ({"tags": "tabular"}, "tags is 'tabular'; give a list of strings"),
    ({"tags": ["a b"]}, 'tags has "a b"; a tag becomes a marker: letters, digits, _, -'),
    ({"tags": ["skip"]}, 'tags has "skip", a marker with a meaning of its own; rename it'),
    ({"starter": "main.py"}, 'starter names "main.py", which is not in'),
    ({"starter": "../score.py"}, 'starter names "../score.py", which is not in'),
    ({"starter": "/bin/sh"}, 'starter names "/bin/sh", which is not in'),
    ({"starter": ["train.py"]}, "starter is ['train.py']; give a string"),
    ({"read_only": "data"}, "read_only is 'data'; give a list of strings"),
    ({"sumbission": {}}, 'sumbission is not a key of the task format; did you mean "submission"?'),
    ({"submission": "a.csv"}, "submission is 'a.csv'; give a table"),
    ({"submission": {"file": "../a.csv"}}, '[submission] file is "../a.csv"; name a file within'),
    ({"submission": {"file": "/a.csv"}}, '[submission] file is "/a.csv"; name a file within'),
    ({"submission": {"file": "."}}, '[submission] file is "."; name a file within'),
    ({"submission": {"file": ""}}, '[submission] file is ""; name a file within'),
    ({"submission": {"file": "a\0b"}}, "[submission] file is"),
    ({"submission": {"max_mb": 0}}, "[submission] max_mb is 0.0; give a number above 0"),
    ({"submission": {"max_mb": "1"}}, "[submission] max_mb is '1'; give a number"),
    ({"submission": {"files": "a"}}, "[submission] files is not a key of the task format; did you"),
    ({"metric": None}, "[metric] name is missing; give a string"),
    ({"metric": {"name": None}}, "[metric] name is missing; give a string"),
    ({"metric": {"goal": None}}, '[metric] goal is missing; give "minimize" or "maximize"'),
    ({"metric": {"goal": "min"}}, """[metric] goal is 'min'; give "minimize" or "maximize\""""),
    ({"metric": {"bound": "1"}}, "[metric] bound is '1'; give a number"),
    ({"baseline": None}, "[baseline] score is missing; give a number"),
    ({"baseline": {"score": 0}}, "[baseline] score is 0, of which no fraction can be taken"),
    ({"baseline": {"score": float("nan")}}, "[baseline] score is nan; give a finite number"),
    ({"baseline": {"score": float("inf")}}, "[baseline] score is inf; give a finite number"),
    ({"baseline": {"std": -1}}, "[baseline] std is -1.0; give 0 or more"),
    ({"baseline": {"runs": 0}}, "[baseline] runs is 0; give a number above 0"),
    ({"baseline": {"runs": 2.5}}, "[baseline] runs is 2.5; give a whole number"),
    ({"baseline": {"measured": 1}}, "[baseline] measured is 1; give true or false"),
    ({"limits": {"seconds": 0}}, "[limits] seconds is 0.0; give a number above 0"),
    ({"limits": {"steps": -1}}, "[limits] steps is -1; give a number above 0"),
    ({"limits": {"scoring_seconds": 0}}, "[limits] scoring_seconds is 0.0; give a number above 0"),
    ({"limits": {"preparing_seconds": -2}}, "[limits] preparing_seconds is -2.0; give a number"),
    ({"limits": {"expected_seconds": 0}}, "[limits] expected_seconds is 0.0; give a number"),
    ({"resources": {"gpus": -1}}, "[resources] gpus is -1; give 0 or more"),
    ({"resources": {"gpus": "all"}}, "[resources] gpus is 'all'; give a whole number"),
    ({"resources": {"memory_gb": 0}}, "[resources] memory_gb is 0.0; give a number above 0"),
    ({"resources": {"requires": "pandas"}}, "[resources] requires is 'pandas'; give a list"),
    ({"resources": {"requires": ["a b!"]}}, '[resources] requires has "a b!"; name packages as'),
    ({"data": {"sha256": 7}}, "[data] sha256 is 7; give a string"),
]


@pytest.mark.parametrize(("tables", "message"), MALFORMED, ids=[m for _, m in MALFORMED])
def test_a_malformed_key_is_refused_with_file_key_and_remedy(
    tmp_path: Path, tables: dict[str, Any], message: str
) -> None:
    folder = make_task(tmp_path, **tables)
    assert refusal(folder).startswith(f"{folder / 'task.toml'}: {message}")


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        ("instruction.md", "write the research problem there, in UTF-8"),
        ("score.py", "is missing; it is what is defines score"),
        ("workspace/train.py", "is missing; it is what is copied afresh for every trial"),
        ("task.toml", "cannot be read: No such file or directory"),
    ],
)
def test_a_missing_file_is_named_with_what_it_is_for(
    tmp_path: Path, file: str, remedy: str
) -> None:
    folder = make_task(tmp_path, files={file: None})
    assert str(folder / file.partition("/")[0]) in refusal(folder)
    assert remedy in refusal(folder)


def test_a_starter_that_is_no_python_script_is_refused(tmp_path: Path) -> None:
    folder = make_task(tmp_path, starter="run.sh", files={"workspace/run.sh": "true"})
    assert 'starter is "run.sh"; name a Python script (.py)' in refusal(folder)


def test_a_solution_that_is_a_file_is_refused(tmp_path: Path) -> None:
    folder = make_task(tmp_path, files={"solution/train.py": None, "solution": "CUT = 4"})
    assert f"{folder / 'solution'}: is not a folder" in refusal(folder)


def test_a_folder_whose_name_cannot_be_part_of_a_test_id_is_refused(tmp_path: Path) -> None:
    assert "rename the folder" in refusal(make_task(tmp_path, "my task[1]"))


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
