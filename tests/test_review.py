"""What is odd about a success is said, with its evidence, and what is not odd is left alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import TaskError
from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents.solution import SolutionAgent
from pytest_mlab.results import Identity
from pytest_mlab.review import find_flags
from pytest_mlab.scoring import Score
from pytest_mlab.task import Task
from pytest_mlab.trial import run_trial
from pytest_mlab.world import open_environment
from tests.folders import load
from tests.projects import Project
from tests.worlds import make_setup


def identity(agent: str = "research", llm: str | None = "gpt-4", trial: int = 1) -> Identity:
    return Identity(
        task="threshold",
        agent=agent,
        llm=llm,
        trial=trial,
        nodeid=f"{agent}-{llm}-{trial}",
        task_digest="f00d",
        seed=0,
    )


class TestBestKnown:
    """Half of what is left to gain on it is more than anybody is believed to gain."""

    @staticmethod
    def flags(folder: Path, task: Task, value: float, baseline: float) -> tuple[str, ...]:
        score = Score(value, baseline, "0")
        return find_flags(
            task, identity(llm=None), score, workspace=folder / "workspace", session=folder
        )

    @pytest.mark.parametrize(
        ("metric", "baseline", "plausible", "implausible"),
        [
            ({"goal": "maximize", "bound": 1.0, "best_known": 0.9}, 0.7, 0.95, 0.96),
            ({"goal": "minimize", "bound": 0.0, "best_known": 10.0}, 20.0, 5.0, 4.9),
            ({"goal": "maximize", "bound": None, "best_known": 30.0}, 10.0, 40.0, 41.0),
            ({"goal": "minimize", "bound": None, "best_known": -3.0}, -1.0, -4.0, -4.1),
        ],
    )
    def test_far_beyond_it_is_to_be_looked_at(
        self,
        tmp_path: Path,
        metric: dict[str, Any],
        baseline: float,
        plausible: float,
        implausible: float,
    ) -> None:
        task = load(tmp_path, metric=metric, baseline={"score": baseline})
        assert self.flags(tmp_path, task, plausible, baseline) == ()
        (flag,) = self.flags(tmp_path, task, implausible, baseline)
        assert flag == (
            f"accuracy {implausible:g} is far better than the best known, "
            f"{metric['best_known']:g}: look for answers that were found or remembered"
        )

    def test_of_run_times_goes_with_the_machine(self, tmp_path: Path) -> None:
        """A machine half as fast takes twice as long for the best known as well."""
        task = load(
            tmp_path,
            metric={"goal": "minimize", "bound": 0.0, "best_known": 0.2},
            baseline={"score": 1.0, "measured": True},
        )
        assert self.flags(tmp_path, task, 0.21, 2.0) == ()
        assert self.flags(tmp_path, task, 0.19, 2.0) != ()

    def test_without_one_nothing_is_said(self, tmp_path: Path) -> None:
        assert self.flags(tmp_path, load(tmp_path), 1.0, 0.7) == ()

    @pytest.mark.parametrize(
        ("best", "message"),
        [(0.6, "is 0.6, no better than the baseline of 0.7"), (1.2, "better than the bound of 1")],
    )
    def test_one_that_cannot_be_is_refused(self, tmp_path: Path, best: float, message: str) -> None:
        with pytest.raises(TaskError, match=rf"\[metric\] best_known is .*{message[-20:]}"):
            load(tmp_path, metric={"best_known": best})


class TestTwins:
    """Equal submissions are odd where a language model was asked and other code wrote them."""

    @pytest.fixture
    def task(self, tmp_path: Path) -> Task:
        return load(tmp_path)

    @staticmethod
    def hand_in(folder: Path, task: Task, who: Identity, code: str, digest: str = "a1") -> str:
        workspace = folder / who.nodeid
        workspace.mkdir()
        (workspace / "train.py").write_text(code)
        score = Score(1.0, 0.7, digest)
        return "; ".join(find_flags(task, who, score, workspace=workspace, session=folder))

    def test_of_other_code_are_to_be_looked_at(self, tmp_path: Path, task: Task) -> None:
        first = self.hand_in(tmp_path, task, identity("research"), "one")
        second = self.hand_in(tmp_path, task, identity("tools"), "two")
        assert first == ""
        assert second == (
            "the submission is, byte by byte, that of threshold · research · gpt-4 · trial 1, made "
            "by other code"
        )

    def test_of_another_trial_of_the_same_too(self, tmp_path: Path, task: Task) -> None:
        self.hand_in(tmp_path, task, identity(trial=1), "one")
        assert "trial 1" in self.hand_in(tmp_path, task, identity(trial=2), "two")

    @pytest.mark.parametrize(
        ("who", "code", "digest"),
        [
            (identity("tools"), "one", "a1"),  # the same code explains it
            (identity("tools"), "two", "b2"),
            (identity("tools", "replay:records"), "two", "a1"),
            (identity("research"), "two", "a1"),  # the trial itself, once more
        ],
    )
    def test_that_are_explained_are_left_alone(
        self, tmp_path: Path, task: Task, who: Identity, code: str, digest: str
    ) -> None:
        (tmp_path / "submissions.jsonl").touch()
        assert self.hand_in(tmp_path, task, identity("research"), "one") == ""
        if who.nodeid == identity("research").nodeid:
            (tmp_path / who.nodeid).rename(tmp_path / "before")
        assert self.hand_in(tmp_path, task, who, code, digest) == ""

    def test_of_agents_that_ask_none_are_expected(self, tmp_path: Path, task: Task) -> None:
        """`hillclimb` and `solution` may end at the same answers, the same each time."""
        for agent in ("hillclimb", "solution"):
            assert self.hand_in(tmp_path, task, identity(agent, None), agent) == ""

    def test_a_submission_that_is_code_explains_nothing(self, tmp_path: Path, task: Task) -> None:
        """Equal code that was handed in is what has to be explained."""
        from hashlib import sha256

        digest = sha256(b"the same").hexdigest()
        for who, own in ((identity("research"), "mine"), (identity("tools"), "other")):
            workspace = tmp_path / who.nodeid
            workspace.mkdir()
            (workspace / "submission.py").write_text("the same")
            (workspace / "train.py").write_text(own)
            score = Score(1.0, 0.7, digest)
            flags = find_flags(task, who, score, workspace=workspace, session=tmp_path)
        assert len(flags) == 1

    def test_a_line_that_another_process_is_writing_is_no_hindrance(
        self, tmp_path: Path, task: Task
    ) -> None:
        (tmp_path / "submissions.jsonl").write_text('{"task": "thr\n')
        assert self.hand_in(tmp_path, task, identity(), "one") == ""


def test_a_flag_changes_no_status(tmp_path: Path) -> None:
    setup = make_setup(tmp_path / "trial", load(tmp_path, metric={"best_known": 0.9}))
    with open_environment(setup, ACTIONS) as environment:
        result = run_trial(setup, SolutionAgent(), environment)
    assert (result.status, len(result.flags)) == ("success", 1)
    assert json.loads((setup.folder / "result.json").read_text())["flags"] == list(result.flags)


def test_a_flag_is_shown_everywhere(pytester: pytest.Pytester) -> None:
    project = Project(pytester)
    project.task("cut", metric={"best_known": 0.9})
    run = project.run("--mlab-agent=solution", "--mlab-tasks=tasks", "--junitxml=report.xml")
    run.stdout.fnmatch_lines(
        [
            "success  cut · solution * flagged: accuracy 1 is far better than the best known, *",
            "1 trial: 1 success (*), 1 flagged for review,*",
        ]
    )
    assert "mlab.flags" in (project.path / "report.xml").read_text()
    run.assert_outcomes(passed=1)
