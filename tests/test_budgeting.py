"""What a session's budget does not hold is left for later, said so, and passes no session."""

import json
from typing import Any

import pytest

from pytest_mlab.gating import UNDECIDED
from tests.projects import Project

NAPPER = """
import time

from agents import solve


def nap(environment):
    time.sleep(0.7)
    solve(environment)
"""


@pytest.fixture
def napping(project: Project) -> Project:
    """A project with a task and an agent that takes 0.7 seconds for it."""
    project.task("easy")
    project.write("napper.py", NAPPER)
    return project


def skipped(project: Project) -> list[dict[str, Any]]:
    """Give what the last session's document says of the trials that it skipped."""
    records: list[dict[str, Any]] = project.document()["skipped"]
    return records


def test_when_the_time_is_up_no_trial_begins(napping: Project) -> None:
    session = napping.run(
        "tasks",
        "--mlab-agent=napper:nap",
        "--mlab-trials=40",
        "--mlab-budget=0.15min",
        *("-p", "no:xdist"),
    )

    done = len(napping.results())
    assert 1 <= done < 15
    assert session.ret == UNDECIDED
    session.assert_outcomes(passed=done, skipped=40 - done)
    reason = "not run: budget: 0.0025 h do not hold it; --mlab-resume goes on with it"
    assert {skip["reason"] for skip in skipped(napping)} == {reason}
    session.stdout.fnmatch_lines(
        [f"skipped easy ({40 - done}): not run: budget: 0.0025 h do not hold it; *", "budget: *"]
    )


def test_gpu_hours_are_counted_over_all_workers(
    napping: Project, plugin_args: tuple[str, ...]
) -> None:
    napping.task("gpu", resources={"gpus": 2})

    session = napping.run(
        "tasks",
        "--mlab-agent=napper:nap",
        "--mlab-trials=6",
        "--mlab-gpus=7,8",
        "--mlab-budget=0.0008gpuh",  # 2.9 seconds of one device, two trials of two
        *plugin_args,
    )

    tasks = [result.task for result in napping.results().values()]
    assert tasks.count("easy") == 6  # asks for none
    assert 1 <= tasks.count("gpu") <= 3
    assert session.ret == UNDECIDED
    ledger = (napping.sessions[-1] / "budget.jsonl").read_text().splitlines()
    assert all(json.loads(line)["gpus"] == 2 for line in ledger)
    assert len(ledger) == 2 * tasks.count("gpu")


def test_what_is_left_over_is_what_resuming_runs(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    project.task("gpu", resources={"gpus": 1})
    project.write("napper.py", NAPPER)
    options = ("tasks", "--mlab-agent=napper:nap", "--mlab-trials=6", "--mlab-gpus=7", *plugin_args)
    first = project.run(*options, "--mlab-budget=0.0003gpuh")  # 1.1 seconds
    done = len(project.results())
    assert first.ret == UNDECIDED
    assert 1 <= done <= 3

    rest = project.run(*options, "--mlab-resume")

    assert rest.ret == 0
    results = project.results().values()
    assert len(results) == 6
    assert sum(bool(result.resumed) for result in results) == done


def test_what_is_finished_is_taken_over_though_nothing_is_left(
    napping: Project, plugin_args: tuple[str, ...]
) -> None:
    options = ("tasks", "--mlab-agent=napper:nap", "--mlab-seed=0", *plugin_args)
    assert napping.run(*options, "--mlab-trials=2").ret == 0

    again = napping.run(*options, "--mlab-trials=4", "--mlab-resume", "--mlab-budget=0.000001h")

    assert again.ret == UNDECIDED
    again.assert_outcomes(passed=2, skipped=2)
    assert all(result.resumed for result in napping.results().values())


def test_what_would_have_to_run_again_is_left_over(napping: Project) -> None:
    assert napping.run("tasks", "--mlab-agent=napper:nap").ret == 0

    again = napping.run(
        *("tasks", "--mlab-agent=napper:nap", "--mlab-resume"),
        *("--mlab-max-steps=7", "--mlab-budget=0.000001h"),
    )

    again.assert_outcomes(skipped=1)
    assert skipped(napping)[0]["reason"].startswith("not run: budget: ")


def test_a_gate_counts_what_was_left_over_both_ways(napping: Project) -> None:
    run = ("tasks", "--mlab-agent=napper:nap", "--mlab-trials=12", "--mlab-budget=0.04min")

    assert napping.run(*run, "--mlab-gate=rate>=0.01,point").ret == 0
    assert napping.run(*run, "--mlab-gate=rate>=0.99,point").ret == UNDECIDED


def test_a_budget_that_holds_changes_nothing(napping: Project) -> None:
    session = napping.run("tasks", "--mlab-agent=napper:nap", "--mlab-budget=5usd,1h")
    assert session.ret == 0
    session.stdout.fnmatch_lines(["budget: 0 of 5 USD, 0.00* of 1 h"])


def test_the_ini_file_may_hold_it(napping: Project) -> None:
    napping.write("pytest.ini", "[pytest]\nmlab_budget = 5eur\n")
    assert "5usd,2Mtok,8gpuh,3h" in napping.refuse("tasks")
