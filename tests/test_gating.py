"""With a gate, what all trials show together decides: on the screen, in the exit code, on disk."""

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_mlab.gating import NOT_NEEDED, UNDECIDED
from tests.projects import Project, has_xdist, read_junit

needs_xdist = pytest.mark.skipif(not has_xdist(), reason="pytest-xdist is not installed")

AGENT = '''"""Does what the name of its task says."""

from agents import solve
from pytest_mlab.exceptions import InfraError


def obey(environment):
    if environment.task.name.startswith("easy"):
        solve(environment)
    if environment.task.name.startswith("down"):
        raise InfraError("the provider is down")
'''


@pytest.fixture
def gated(project: Project) -> Project:
    """A project whose agent succeeds on easy tasks, and breaks down on those that are down."""
    project.write("obedient.py", AGENT)
    return project


def run(project: Project, gate: str, *args: object) -> pytest.RunResult:
    """Run all tasks with a gate."""
    return project.run("tasks", "--mlab-agent=obedient:obey", f"--mlab-gate={gate}", *args)


def verdict(project: Project) -> dict[str, Any]:
    """Give what the last session's document says of the gate; it is as the schema says."""
    document = project.document()
    schema = resources.files("pytest_mlab.reporting").joinpath("mlab-results-1.schema.json")
    jsonschema.validate(document, json.loads(schema.read_text(encoding="utf-8")))
    gate: dict[str, Any] = document["gate"]
    return gate


def test_a_miss_does_not_fail_the_session_where_the_gate_passes(
    gated: Project, plugin_args: tuple[str, ...]
) -> None:
    for name in ("easy1", "easy2", "easy3", "hard"):
        gated.task(name)

    session = run(gated, "rate>=60%,point", *plugin_args, "--junitxml=j.xml", "-x")

    assert session.ret == 0
    session.stdout.fnmatch_lines(
        [
            "no-submission  hard * trial 1 *",
            "gate rate>=60%,point: PASS",
            "  3 of 4 trials succeeded, 75 % [[]30, 95[]]: the rate itself is at or above 60 %",
            "*= 3 passed, 1 missed in *",
        ]
    )
    assert gated.statuses()["hard"] == "no-submission"
    assert verdict(gated)["verdict"] == "pass"
    suite, cases = read_junit(gated.path / "j.xml")
    assert suite["mlab.gate"] == "rate>=60%,point"
    assert suite["mlab.gate_verdict"] == "pass"
    assert suite["mlab.successes"] == "3"
    (missed,) = [case for name, case in cases.items() if "hard" in name]
    skipped = missed.find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"].startswith("missed: hard ")
    assert [child.tag for child in cases["gate[rate>=60%,point]"]] == []


def test_the_gate_fails_the_session_with_its_reason(
    gated: Project, plugin_args: tuple[str, ...]
) -> None:
    for name in ("easy", "hard1", "hard2", "hard3"):
        gated.task(name)

    session = run(gated, "rate>=0.6,point", *plugin_args, "--junitxml=j.xml")

    assert session.ret == pytest.ExitCode.TESTS_FAILED
    session.stdout.fnmatch_lines(["gate rate>=0.6,point: FAIL", "*= 1 passed, 3 missed in *"])
    reason = "1 of 4 trials succeeded, 25 % [5, 70]: the rate itself is below 60 %"
    assert verdict(gated)["reason"] == reason
    suite, cases = read_junit(gated.path / "j.xml")
    assert suite["mlab.gate_reason"] == reason
    failure = cases["gate[rate>=0.6,point]"].find("failure")
    assert failure is not None
    assert failure.attrib["message"] == f"fail: {reason}"


def test_what_is_not_shown_is_undecided(gated: Project, plugin_args: tuple[str, ...]) -> None:
    gated.task("easy")
    gated.task("hard")

    session = run(gated, "rate>=0.375", *plugin_args)

    assert session.ret == UNDECIDED
    session.stdout.fnmatch_lines(
        ["gate rate>=0.375: UNDECIDED", "  about 56 more trials would decide, *"]
    )
    assert verdict(gated)["more_trials"] == 56


def test_an_error_is_counted_both_ways(gated: Project, plugin_args: tuple[str, ...]) -> None:
    for name in ("easy1", "easy2", "easy3", "down"):
        gated.task(name)

    sure = run(gated, "rate>=0.6,point", *plugin_args)
    assert sure.ret == 0
    sure.assert_outcomes(passed=3, errors=1)
    (claim,) = verdict(gated)["claims"]
    assert (claim["successes"], claim["misses"], claim["unknown"]) == (3, 0, 1)

    unsure = run(gated, "rate>=0.8,point", *plugin_args)
    assert unsure.ret == UNDECIDED
    assert verdict(gated)["more_trials"] == 1


def test_a_skipped_task_is_counted_both_ways(gated: Project) -> None:
    gated.task("easy")
    gated.task("gpu", resources={"gpus": 1})

    assert run(gated, "rate>=0.5,point", "--mlab-gpus=none").ret == 0
    assert run(gated, "rate>=0.6,point", "--mlab-gpus=none").ret == UNDECIDED


def test_per_task_every_task_has_to_reach_the_rate(
    gated: Project, plugin_args: tuple[str, ...]
) -> None:
    gated.task("easy")
    gated.task("hard")

    session = run(gated, "rate>=0.5,per-task,point", *plugin_args)

    assert session.ret == pytest.ExitCode.TESTS_FAILED
    session.stdout.fnmatch_lines(
        [
            "gate rate>=0.5,per-task,point: FAIL",
            "  pass easy · obedient:obey: 1 of 1 trial succeeded*",
            "  fail hard · obedient:obey: 0 of 1 trial succeeded*",
        ]
    )
    assert [claim["task"] for claim in verdict(gated)["claims"]] == ["easy", "hard"]
    assert "1 of 2 claims: hard" in verdict(gated)["reason"]


def test_each_agent_has_to_reach_the_rate(gated: Project) -> None:
    gated.task("easy")

    session = run(gated, "rate>=0.5,point", "--mlab-agent=baseline")

    assert session.ret == pytest.ExitCode.TESTS_FAILED
    decisions = {claim["agent"]: claim["verdict"] for claim in verdict(gated)["claims"]}
    assert decisions == {"obedient:obey": "pass", "baseline": "fail"}


def test_in_rounds_trials_stop_when_the_verdict_is_sure(
    gated: Project, plugin_args: tuple[str, ...]
) -> None:
    gated.task("easy1")
    gated.task("easy2")

    session = run(
        gated, "rate>=0.375", "--mlab-gate-max-trials=20", "--junitxml=j.xml", *plugin_args
    )

    assert session.ret == 0
    gate = verdict(gated)
    (claim,) = gate["claims"]
    assert (gate["verdict"], claim["looks"], claim["successes"]) == ("pass", 4, 8)
    results = gated.results().values()
    assert gate["not_needed"] == 40 - len(results)
    # a worker may have begun one trial more before it was known
    assert 8 <= len(results) <= 12
    assert {skip["reason"] for skip in gated.document()["skipped"]} == {NOT_NEEDED}
    assert gated.document()["summary"]["total"]["trials"] == len(results)
    session.stdout.fnmatch_lines(
        [
            f"skipped easy1, easy2 ({gate['not_needed']}): not needed: the gate's verdict *",
            "gate rate>=0.375: PASS",
            "  8 of 8 trials succeeded, 100 % [[]68, 100[]]: 8 are enough to show 37.5 % at *",
            f"  {gate['not_needed']} trials not needed",
        ]
    )


def test_in_rounds_a_task_that_is_sure_needs_no_more_trials_of_its_own(gated: Project) -> None:
    gated.task("easy")
    gated.task("down")

    session = run(gated, "rate>=0.5,per-task,point", "--mlab-gate-max-trials=4")

    assert session.ret == UNDECIDED
    trials = [result.task for result in gated.results().values()]
    assert (trials.count("easy"), trials.count("down")) == (2, 4)


def test_a_round_has_as_many_trials_as_are_asked_for(gated: Project) -> None:
    gated.task("hard")

    session = run(
        gated, "rate>=0.5,point", "--mlab-trials=2", "--mlab-gate-max-trials=8", "-p", "no:xdist"
    )

    assert session.ret == pytest.ExitCode.TESTS_FAILED
    assert len(gated.results()) == 6  # 5 misses of 8 are enough, and a round has 2
    assert verdict(gated)["not_needed"] == 2


def test_no_worse_than_a_stored_run(gated: Project, plugin_args: tuple[str, ...]) -> None:
    gated.task("one")
    gated.task("two")
    stored = gated.run(
        "tasks", "--mlab-agent=solution", "--mlab-trials=4", "--mlab-json=old.json", "-n0"
    )
    assert stored.ret == 0

    same = gated.run(
        "tasks",
        "--mlab-agent=agents:solve",
        "--mlab-trials=2",
        "--mlab-gate=no-worse-than=old.json",
        *plugin_args,
    )
    assert same.ret == 0
    assert "not significantly worse, +0 points" in verdict(gated)["reason"]

    worse = gated.run(
        "tasks",
        "--mlab-agent=agents:do_nothing",
        "--mlab-trials=2",
        "--mlab-gate=no-worse-than=old.json",
        *plugin_args,
    )
    assert worse.ret == pytest.ExitCode.TESTS_FAILED
    worse.stdout.fnmatch_lines(["gate no-worse-than=old.json: FAIL", "*points 4 times in*"])
    assert "significantly worse, -100 points" in verdict(gated)["reason"]


def test_a_task_that_has_changed_since_is_not_compared(gated: Project) -> None:
    gated.task("one")
    gated.task("two")
    gated.run("tasks", "--mlab-agent=solution", "--mlab-json=old.json")
    (gated.tasks / "two" / "instruction.md").write_text("Try harder.\n")
    gated.task("three")

    run(gated, "no-worse-than=old.json")

    assert set(verdict(gated)["notes"]) == {
        "three was not run then: left out",
        "two has been changed since: left out",
    }
    assert "on 1 task:" in verdict(gated)["reason"]


def stored_results(project: Project, results: Sequence[dict[str, Any]], **changes: Any) -> Path:
    """Write a document of results."""
    document = {
        "schema": "mlab-results/1",
        "session": "then",
        "results": list(results),
        "skipped": [],
        "not_run": [],
    }
    return project.write("old.json", json.dumps(document | changes))


def test_a_stored_run_that_cannot_be_compared_with_is_refused(gated: Project) -> None:
    gated.task("one")
    gate = "--mlab-gate=no-worse-than=old.json"
    assert "old.json: does not exist" in gated.refuse("tasks", gate)
    gated.write("old.json", '{"schema": "mlab-results/1", "results": [')
    assert "old.json: cannot be read as JSON" in gated.refuse("tasks", gate)
    stored_results(gated, [], schema="mlab-results/2")
    assert "its schema is 'mlab-results/2'" in gated.refuse("tasks", gate)
    stored_results(gated, [])
    assert "old.json: no trial has a result there" in gated.refuse("tasks", gate)


def test_a_stored_run_of_others_is_refused(gated: Project) -> None:
    gated.task("one")
    gated.run("tasks", "--mlab-agent=solution", "--mlab-agent=baseline", "--mlab-json=old.json")
    refused = gated.refuse("tasks", "--mlab-gate=no-worse-than=old.json", "--mlab-agent=hillclimb")
    assert refused.endswith("has no trial of hillclimb; it has trials of solution, baseline")


@pytest.mark.parametrize("workers", ["-n0", pytest.param("-n2", marks=needs_xdist)])
def test_a_stored_run_of_other_tasks_is_refused_before_anything_runs(
    gated: Project, workers: str
) -> None:
    gated.task("one")
    gated.run("tasks", "--mlab-agent=solution", "--mlab-json=old.json")
    (gated.tasks / "one").rename(gated.tasks / "other")

    session = run(gated, "no-worse-than=old.json", workers)

    assert session.ret == pytest.ExitCode.USAGE_ERROR
    session.stderr.fnmatch_lines(["*it has trials of one, and what runs here is other*"])
    assert not list(gated.path.glob(".mlab/*/*/trace.jsonl"))[1:]


def test_what_makes_no_sense_is_refused(gated: Project) -> None:
    gated.task("one")
    assert "in quotes" in gated.refuse("tasks", "--mlab-gate=rate")
    assert "needs a gate" in gated.refuse("tasks", "--mlab-gate-max-trials=8")
    assert "less than a round" in gated.refuse(
        "tasks", "--mlab-gate=rate>=.5", "--mlab-gate-max-trials=2", "--mlab-trials=4"
    )
    gated.write("pytest.ini", "[pytest]\nmlab_gate = rate>=2\n")
    assert "at most 1" in gated.refuse("tasks")


def test_lf_runs_again_what_missed_and_gives_no_verdict_on_it(gated: Project) -> None:
    gated.task("easy")
    gated.task("hard")
    run(gated, "rate>=0.6,point")

    session = run(gated, "rate>=0.6,point", "--lf")

    assert list(gated.statuses()) == ["hard"]
    assert session.ret == UNDECIDED
    session.stdout.fnmatch_lines(["  --lf ran only what had failed before*"])


def test_a_failing_test_of_the_projects_own_fails_the_session(gated: Project) -> None:
    gated.task("easy")
    gated.write("test_own.py", "def test_own():\n    assert 1 == 2\n")

    session = run(gated, "rate>=0.6,point", "test_own.py")

    assert session.ret == pytest.ExitCode.TESTS_FAILED
    session.stdout.fnmatch_lines(["gate rate>=0.6,point: PASS"])


def test_a_test_of_ones_own_on_a_task_is_not_missed_but_fails(gated: Project) -> None:
    gated.task("hard")
    gated.write(
        "test_own.py",
        "import pytest\n\n"
        '@pytest.mark.mlab_task("tasks/hard")\n'
        "def test_own(mlab_run):\n    assert mlab_run().success\n",
    )

    session = gated.run("test_own.py", "--mlab-agent=obedient:obey", "--mlab-gate=rate>=.1,point")

    session.assert_outcomes(failed=1)
    assert session.ret == pytest.ExitCode.TESTS_FAILED


def test_without_a_gate_nothing_is_said_of_one(gated: Project) -> None:
    gated.task("hard")
    session = gated.run("tasks", "--mlab-agent=obedient:obey")
    assert session.ret == pytest.ExitCode.TESTS_FAILED
    session.stdout.no_fnmatch_line("gate *")
    assert gated.document()["gate"] is None
