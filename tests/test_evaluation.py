"""Scores along a trial: each submission once, by the same scorer, hidden and without a say."""

from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents import Agent
from pytest_mlab.curves import StepScore, read_curve
from pytest_mlab.environment import Environment
from pytest_mlab.results import Result
from pytest_mlab.runs import TRACE
from pytest_mlab.trace import read_trace
from pytest_mlab.trial import run_trial
from pytest_mlab.world import open_environment
from tests.folders import load
from tests.projects import Project
from tests.worlds import make_setup

HEADER = "id,label\n"


def answers(cut: int) -> str:
    """Give a submission that cuts at a threshold; at 4 it is right throughout."""
    return HEADER + "".join(f"{n},{int(n * 7 % 10 >= cut)}\n" for n in range(100))


class Writer:
    """Hands in one content after the other."""

    asks_llm = False

    def __init__(self, *contents: str) -> None:
        self.contents = contents

    def run(self, environment: Environment) -> None:
        """Write each of them, then submit."""
        for content in self.contents:
            environment.act("Write File", file_name="submission.csv", content=content)
        environment.act("Final Answer", final_answer="")


def run(tmp_path: Path, agent: Agent, **changes: Any) -> Result:
    """Run a trial whose steps are scored."""
    setup = make_setup(tmp_path / "trial", load(tmp_path, **changes), eval_steps=True)
    with open_environment(setup, ACTIONS) as environment:
        return run_trial(setup, agent, environment)


def curve(result: Result) -> list[tuple[int, float | None, float | None]]:
    """Give step, score and best score so far."""
    return [(point.step, point.score, point.best) for point in read_curve(Path(result.folder))]


def test_each_submission_that_changed_is_scored(tmp_path: Path) -> None:
    result = run(tmp_path, Writer(answers(1), answers(4), answers(4), answers(2)))
    assert curve(result) == [(1, 0.7, 0.7), (2, 1.0, 1.0), (4, 0.8, 1.0)]


def test_the_best_decides_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, Writer(answers(4), answers(1)))
    assert (result.status, result.score, result.best_score) == ("below-threshold", 0.7, 1.0)


def test_lower_is_better_where_the_metric_says_so(tmp_path: Path) -> None:
    result = run(
        tmp_path,
        Writer(answers(4), answers(1)),
        metric={"name": "cost", "goal": "minimize", "bound": None},
    )
    assert result.best_score == 0.7


def test_what_cannot_be_scored_says_why_and_is_not_the_best(tmp_path: Path) -> None:
    result = run(tmp_path, Writer("id,wrong\n", answers(2)))
    first, second = read_curve(Path(result.folder))
    assert (first.score, first.best) == (None, None)
    assert "label" in first.detail
    assert (second.score, second.best) == (0.8, 0.8)


def test_one_that_is_too_large_says_so(tmp_path: Path) -> None:
    result = run(tmp_path, Writer("x" * 1_100_000, answers(2)))
    first, second = read_curve(Path(result.folder))
    assert first.detail == "larger than 1 MB"
    assert second.score == 0.8


def test_a_submission_beyond_the_size_of_other_files_is_scored(tmp_path: Path) -> None:
    padded = answers(4).replace(HEADER, HEADER + "\n" * 1_500_000)
    result = run(tmp_path, Writer(padded), submission={"max_mb": 3})
    assert [(point.score, point.detail) for point in read_curve(Path(result.folder))] == [(1.0, "")]


def test_a_starters_own_submission_is_none_of_the_agents(tmp_path: Path) -> None:
    files = {"workspace/submission.csv": answers(4)}
    changes = {"files": files, "submission": {"in_place": True}}
    result = run(tmp_path, Writer(answers(1), answers(4)), **changes)
    assert curve(result) == [(1, 0.7, 0.7)]


def test_a_scorer_that_breaks_on_the_way_changes_nothing(tmp_path: Path) -> None:
    scorer = "def score(submission, private):\n    return float(submission.read_text())\n"
    result = run(tmp_path, Writer("no number", "0.9"), files={"score.py": scorer})
    assert (result.status, result.best_score) == ("success", 0.9)
    first, _ = read_curve(Path(result.folder))
    assert "score() raised" in first.detail


def test_the_agent_sees_none_of_it(tmp_path: Path) -> None:
    result = run(tmp_path, Writer(answers(4)))
    events = list(read_trace(Path(result.folder) / TRACE))
    assert [event["event"] for event in events] == ["start", "step", "step", "end"]
    assert not list((Path(result.folder) / "workspace").glob("*scores*"))


def test_without_the_option_nothing_is_scored_on_the_way(tmp_path: Path) -> None:
    setup = make_setup(tmp_path / "trial", load(tmp_path))
    with open_environment(setup, ACTIONS) as environment:
        result = run_trial(setup, Writer(answers(4)), environment)
    assert result.best_score is None
    assert read_curve(Path(result.folder)) == ()


def test_a_later_versions_keys_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "scores.jsonl").write_text(
        '{"step": 1, "commit": "c", "score": 1.0, "baseline": 0.5, "improvement": 1.0, '
        '"best": 1.0, "detail": "", "new": 7}\n'
    )
    assert read_curve(tmp_path) == (
        StepScore(step=1, commit="c", score=1.0, baseline=0.5, improvement=1.0, best=1.0),
    )


@pytest.mark.parametrize("check", [True, False])
def test_the_option_turns_it_on(project: Project, check: bool) -> None:
    project.task("cut")
    options = ["--mlab-eval-steps"] if check else []
    project.run("-p", "no:xdist", "tasks", "--mlab-agent=solution", *options).assert_outcomes(
        passed=1
    )
    (result,) = project.results().values()
    assert result.best_score == (1.0 if check else None)
    assert bool(read_curve(Path(result.folder))) == check
