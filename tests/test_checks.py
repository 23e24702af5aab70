"""The checks of a task tell its author what is wrong with it."""

import re

import pytest

from tests.folders import PREPARER, SCORER, STARTER
from tests.projects import Project

RANDOM_DATA = """
import os

def build(raw, public, private):
    (public / "train.csv").write_text("id,x,label\\n1,0,0\\n")
    (public / "test.csv").write_text("id,x\\n1,0\\n")
    (public / "noise.txt").write_text(os.urandom(8).hex())
    (private / "labels.csv").write_text("id,label\\n1,0\\n")
"""
TO_JSONL = """

def rewrite(private):
    import json

    names = (private / "labels.csv").read_text().split()[1:]
    lines = (json.dumps(dict(zip(("id", "label"), name.split(",")))) for name in names)
    (private / "labels.csv").unlink()
    (private / "hidden").mkdir()
    (private / "hidden" / "answers.jsonl").write_text("\\n".join(lines))


def build(raw, public, private, build=build):
    build(raw, public, private)
    rewrite(private)
"""
JSONL_SCORER = """
import json

from pytest_mlab.submission import accuracy, read_classes


def score(submission, private):
    lines = (private / "hidden" / "answers.jsonl").read_text().splitlines()
    answers = {record["id"]: record["label"] for record in map(json.loads, lines)}
    labels = read_classes(submission, "label", answers.keys(), ["0", "1"])
    return accuracy(labels, answers.values())
"""
BLIND_SCORER = """
def score(submission, private):
    return 0.7 if submission.read_text().count(",1") > 70 else 1.0
"""


def test_a_sound_task_passes_them_all(project: Project, plugin_args: tuple[str, ...]) -> None:
    project.task("cut")
    run = project.run(*plugin_args, "tasks", "--mlab-check", "-v")
    run.assert_outcomes(passed=7)
    for check in (
        "starter_scores_its_baseline",
        "empty_workspace_is_invalid",
        "solution_succeeds",
        "permuted_labels_score_by_chance",
        "no_attack_works",
        "preparing_twice_is_identical",
        "two_workspaces_are_identical",
    ):
        run.stdout.fnmatch_lines_random([f"*task.toml::test_{check}[[]cut] *"])
    run.stdout.no_fnmatch_line("*ML agent benchmark*")
    run.stdout.no_fnmatch_line("*records in*")
    assert project.sessions == []


def jsonl_task(project: Project, **changes: object) -> None:
    """Make a task whose answers are in another file than usual."""
    files = {"prepare.py": PREPARER + TO_JSONL, "score.py": JSONL_SCORER}
    project.task("cut", files=files, **changes)


def test_answers_are_permuted_where_the_task_says_that_they_are(project: Project) -> None:
    jsonl_task(project, data={"answers": "hidden/answers.jsonl"})
    run = project.run("-p", "no:xdist", "tasks", "--mlab-check", "-k", "permuted")
    run.assert_outcomes(passed=1)


def test_a_task_without_answers_is_skipped_and_told_how_to_name_them(project: Project) -> None:
    jsonl_task(project)
    run = project.run("-p", "no:xdist", "tasks", "--mlab-check", "-k", "permuted", "-rs")
    run.assert_outcomes(skipped=1)
    run.stdout.fnmatch_lines(["*no answers to permute: no private/labels.csv. *[[]data[]] answers"])


def test_answers_that_are_not_where_the_task_says_are_its_mistake(project: Project) -> None:
    jsonl_task(project, data={"answers": "answers.jsonl"})
    run = project.run("-p", "no:xdist", "tasks", "--mlab-check", "-k", "permuted")
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines(["*[[]data[]] answers names answers.jsonl, which is not in private/*"])


def test_a_task_that_can_be_cheated_on_fails(project: Project) -> None:
    """Without a wall, every task can."""
    project.task("cut")
    run = project.run("tasks", "--mlab-check", "--mlab-sandbox=none", "-k", "attack")
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(
        [
            "attacks work in the sandbox none:",
            "read_answers_by_their_path: it gave the sha256 of the hidden labels.csv",
        ]
    )


def test_a_scorer_that_a_submission_can_crash_fails(project: Project) -> None:
    reads = "labels = read_classes("
    assert reads in SCORER
    project.task(
        "cut", files={"score.py": SCORER.replace(reads, f"submission.read_text(); {reads}")}
    )
    run = project.run("tasks", "--mlab-check", "-k", "attack")
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(
        [
            "hostile submissions are not simply invalid:",
            "hand_in_all_bytes: it makes scoring fail: *score.py: score() raised",
            "UnicodeDecodeError: *",
        ]
    )


@pytest.mark.parametrize(
    ("changes", "check", "message"),
    [
        pytest.param(
            {"baseline": {"score": 0.6}},
            "FAILED test_starter_scores_its_baseline",
            "doing nothing succeeds: cut * (+16.7 %, needs more than +10%); *",
            id="a starter that succeeds",
        ),
        pytest.param(
            {"baseline": {"score": 0.75}},
            "FAILED test_starter_scores_its_baseline",
            "the starter scores 0.7, ?baseline? score says 0.75: 6.7% apart, and its noise *",
            id="a baseline that is not the starter's",
        ),
        pytest.param(
            {"files": {"workspace/train.py": "print('validation accuracy: 1')\n"}},
            "FAILED test_starter_scores_its_baseline",
            "the starter's submission cannot be scored: *no submission.csv in the workspace*",
            id="a starter without a submission",
        ),
        pytest.param(
            {"files": {"solution/train.py": STARTER}},
            "FAILED test_solution_succeeds",
            "cut · *: below-threshold; accuracy 0.7 against a baseline of 0.7 *",
            id="a solution that solves nothing",
        ),
        pytest.param(
            {"files": {"solution/train.py": None}},
            "ERROR test_solution_succeeds",
            "*tasks/cut: has no solution/ for the solution agent to lay out",
            id="no solution",
        ),
        pytest.param(
            {"files": {"score.py": BLIND_SCORER}},
            "FAILED test_permuted_labels_score_by_chance",
            "with permuted answers the solution succeeds: it scores 1, the baseline is 0.7; *",
            id="a scorer that does not look at the labels",
        ),
        pytest.param(
            {"files": {"score.py": SCORER.replace("return sum(", "return float('nan') * sum(")}},
            "ERROR test_solution_succeeds",
            "*score.py: score() returned nan; it must return a finite number",
            id="a scorer that returns no number",
        ),
        pytest.param(
            {"files": {"prepare.py": RANDOM_DATA}},
            "FAILED test_preparing_twice_is_identical",
            "prepare.py makes different files each time: public/noise.txt",
            id="data that are random",
        ),
    ],
)
def test_a_faulty_task_is_told_what_is_wrong(
    project: Project, changes: dict[str, object], check: str, message: str
) -> None:
    project.task("cut", **changes)  # type: ignore[arg-type]  # tables and files alike
    run = project.run("-p", "no:xdist", "tasks", "--mlab-check", "-k", "not attack")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines([message])
    run.stdout.no_fnmatch_line("*site-packages*")
    found = re.findall(r"^(FAILED|ERROR) \S+::(\w+)", run.stdout.str(), re.MULTILINE)
    assert tuple(check.split()) in found
