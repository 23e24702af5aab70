"""Sessions of trials with pytest's own options, and the records that they leave."""

import json
from pathlib import Path

import pytest

from pytest_mlab.results import SCHEMA
from tests.projects import Project, nodeid, properties, read_junit

AGENTS = ["--mlab-agent=baseline", "--mlab-agent=solution"]


@pytest.fixture
def three(project: Project) -> Project:
    """A project with three tasks."""
    for name in ("a", "b", "c"):
        project.task(name)
    return project


def test_every_item_runs_once_and_is_known_by_the_same_id(
    three: Project, plugin_args: tuple[str, ...]
) -> None:
    run = three.run(*plugin_args, "tasks", *AGENTS, "--mlab-trials=2", "--junitxml=j.xml")
    run.assert_outcomes(passed=6, failed=6)
    ids = [
        nodeid(task, agent, trial)
        for task in ("a", "b", "c")
        for agent in ("baseline", "solution")
        for trial in (1, 2)
    ]
    assert three.collect("tasks", *AGENTS, "--mlab-trials=2") == ids
    assert sorted(three.results()) == sorted(ids)
    plan = json.loads((three.sessions[-1] / "plan.json").read_text())
    assert [identity["nodeid"] for identity in plan] == ids
    assert len({identity["seed"] for identity in plan}) == 6
    suite, cases = read_junit(three.path / "j.xml")
    assert suite["mlab.success_rate"] == "0.5"
    assert {
        f"tasks/{properties(case)['mlab.task']}/task.toml::{name}" for name, case in cases.items()
    } == set(ids)


def test_data_are_prepared_once_for_all_trials(
    project: Project, plugin_args: tuple[str, ...], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    project.task(
        "cut",
        files={
            "prepare.py": "def build(raw, public, private):\n"
            f"    print('prepared', file=open({str(log)!r}, 'a'))\n"
            "    (public / 'train.csv').write_text('id,x,label\\n1,0,0\\n')\n"
            "    (public / 'test.csv').write_text('id,x\\n1,0\\n')\n"
            "    (private / 'labels.csv').write_text('id,label\\n1,0\\n')\n"
        },
    )
    for _ in range(2):
        run = project.run(*plugin_args, "tasks", "--mlab-agent=solution", "--mlab-trials=4")
        run.assert_outcomes(passed=4)
    assert log.read_text() == "prepared\n"


def test_failed_trials_run_again(three: Project) -> None:
    three.write("tasks/c/score.py", "def score(submission, private):\n    return 1 / 0\n")
    three.run("tasks", *AGENTS).assert_outcomes(passed=2, failed=2, errors=2)
    again = three.run("tasks", *AGENTS, "--lf")
    again.assert_outcomes(failed=2, errors=2)
    assert nodeid("a", "solution") not in three.results()
    errors_first = [nodeid("c"), nodeid("c", "solution"), nodeid("a"), nodeid("b")]
    assert three.collect("tasks", *AGENTS, "--ff")[:4] == errors_first
    assert three.collect("tasks", *AGENTS, "--lf", "-k", "solution") == [nodeid("c", "solution")]


@pytest.mark.parametrize(
    ("option", "outcomes", "not_run"),
    [
        ("-x", {"failed": 1}, 5),
        ("--maxfail=2", {"failed": 2, "passed": 1}, 3),
        ("--sw", {"failed": 1}, 5),
    ],
)
def test_stopping_early_says_what_did_not_run(
    three: Project, option: str, outcomes: dict[str, int], not_run: int
) -> None:
    run = three.run("-p", "no:xdist", "tasks", *AGENTS, option)
    run.assert_outcomes(**outcomes)
    run.stdout.fnmatch_lines([f"* {not_run} not run*"])
    document = three.document()
    assert len(document["not_run"]) == not_run
    assert document["summary"]["total"]["trials"] == 6 - not_run


@pytest.mark.parametrize(
    "args",
    [
        ("-p", "no:timeout"),
        ("-p", "no:terminal"),
        ("-p", "no:cacheprovider"),
        ("-W", "error"),
        ("--strict-markers", "--strict-config", "-q"),
        ("-v",),
        ("-s",),
        ("-qq",),
        ("--import-mode=importlib",),
        ("--rootdir=.", "-c", "pytest.ini"),
        ("-p", "no:capture", "--color=yes"),
    ],
    ids=" ".join,
)
def test_other_options_do_not_matter(project: Project, args: tuple[str, ...]) -> None:
    project.task("cut", tags=["tiny"])
    run = project.run("-p", "no:xdist", *args, "tasks", "--mlab-agent=solution")
    assert run.ret == pytest.ExitCode.OK, run.stdout.str() + run.stderr.str()
    assert project.statuses() == {"cut": "success"}


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_the_junit_file_is_valid(project: Project, family: str) -> None:
    project.task("cut")
    project.write("pytest.ini", f"[pytest]\njunit_family = {family}\n")
    run = project.run("tasks", *AGENTS, "--junitxml=j.xml", "-W", "error")
    run.assert_outcomes(passed=1, failed=1)
    suite, cases = read_junit(project.path / "j.xml")
    assert suite["mlab.trials"] == "2"
    values = properties(cases["test_beats_baseline[cut-solution-trial1]"])
    assert values["mlab.task"] == "cut"
    assert values["mlab.agent"] == "solution"
    assert values["mlab.trial"] == "1"
    assert values["mlab.status"] == "success"
    assert values["mlab.success"] == "True"
    assert values["mlab.steps"] == "3"
    assert float(values["mlab.score"]) == 1.0
    assert float(values["mlab.baseline"]) == 0.7
    assert float(values["mlab.improvement"]) == pytest.approx(3 / 7)
    assert float(values["mlab.seconds"]) > 0
    assert "mlab.llm" not in values


def test_a_session_leaves_its_records(project: Project, plugin_args: tuple[str, ...]) -> None:
    project.task("cut")
    run = project.run(*plugin_args, "tasks", "--mlab-agent=solution", "--mlab-json=out/r.json")
    (session,) = project.sessions
    run.stdout.fnmatch_lines([f"mlab: sandbox *, GPUs *, records in .mlab/{session.name}"])
    assert (session.parent / ".gitignore").read_text().splitlines()[-1] == "*"
    assert sorted(path.name for path in session.iterdir() if path.is_file()) == [
        "plan.json",
        "results.json",
        "session.json",
        "submissions.jsonl",
    ]
    (trial,) = (path for path in session.iterdir() if path.is_dir())
    assert trial.name.startswith("cut-solution-trial1-")
    assert {path.name for path in trial.iterdir()} == {
        "conditions.json",
        "history.git",
        "identity.json",
        "outputs",
        "result.json",
        "trace.jsonl",
        "workspace",
    }
    document = json.loads((project.path / "out/r.json").read_text())
    assert document["schema"] == SCHEMA
    assert document == project.document()
    (record,) = document["results"]
    assert record == json.loads((trial / "result.json").read_text())
    assert record["folder"] == str(trial)
    first = (trial / "identity.json").read_text()
    project.run(*plugin_args, "tasks", "--mlab-agent=solution").assert_outcomes(passed=1)
    assert len(project.sessions) == 2
    again = next(project.sessions[-1].glob("*/identity.json")).read_text()
    assert again == first
