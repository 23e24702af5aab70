"""The order in which workers are dealt trials, with the real xdist."""

import json
from collections import Counter

import pytest

from tests.projects import Project, has_xdist, nodeid

pytestmark = pytest.mark.skipif(not has_xdist(), reason="pytest-xdist is not installed")

AGENTS = """
import os, signal, time

def note(environment):
    with open("log", "a") as log:
        print(environment.task.name, file=log)
    time.sleep(float(environment.task.title))

def kill(environment):
    note(environment)
    if environment.task.name == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
"""
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(6))
def test_own(number):
    with open("log", "a") as log:
        print("own", file=log)
"""


@pytest.fixture
def timed(project: Project) -> Project:
    """A project with agents that write down what they are at, and sleep for the task's title."""
    project.write("agents.py", AGENTS)
    return project


def make_task(project: Project, name: str, expected: float | None, lasts: float = 0.05) -> None:
    """Make a task that lasts for some seconds, and says that it lasts for others."""
    limits = {} if expected is None else {"expected_seconds": expected}
    project.task(name, title=str(lasts), limits=limits)


def read_log(project: Project) -> list[str]:
    """Give what ran, in the order in which it started, and begin anew."""
    log = project.path / "log"
    names = log.read_text().split()
    log.unlink()
    return names


def test_the_longest_come_first(timed: Project) -> None:
    for name, expected in [("a", 1.0), ("b", 2.0), ("c", 90.0), ("d", 3.0), ("e", 80.0)]:
        make_task(timed, name, expected, lasts=0.3)
    run = timed.run("-n2", "-v", "tasks", "--mlab-agent=agents:note")
    run.assert_outcomes(failed=5)
    run.stdout.fnmatch_lines(["scheduling tests via TrialScheduling"])
    order = read_log(timed)
    assert set(order[:2]) == {"c", "e"}
    assert Counter(order) == Counter("abcde")


def test_what_earlier_sessions_took_counts_more_than_what_the_author_says(timed: Project) -> None:
    for name, expected, lasts in [("a", 90.0, 0.0), ("b", None, 0.6), ("c", 5.0, 1.2)]:
        make_task(timed, name, expected, lasts)
    timed.run("-p", "no:xdist", "tasks", "--mlab-agent=agents:note").assert_outcomes(failed=3)
    assert read_log(timed) == ["a", "b", "c"], "alone, nothing is gained by another order"
    cache = json.loads((timed.path / ".pytest_cache/v/mlab/seconds").read_text())
    assert cache["c agents:note"] > cache["b agents:note"] > cache["a agents:note"]
    timed.run("-n2", "tasks", "--mlab-agent=agents:note").assert_outcomes(failed=3)
    assert set(read_log(timed)[:2]) == {"b", "c"}


def test_ordinary_tests_come_before_all_trials(timed: Project) -> None:
    for name in "ab":
        make_task(timed, name, None)
    timed.write("test_own.py", TESTS)
    run = timed.run("-n2", "tasks", "test_own.py", "--mlab-agent=agents:note")
    run.assert_outcomes(passed=6, failed=2)
    order = read_log(timed)
    assert set(order[:5]) == {"own"}
    assert Counter(order) == {"own": 6, "a": 1, "b": 1}


def test_without_trials_it_is_as_xdist_deals(timed: Project) -> None:
    timed.write("test_own.py", TESTS)
    timed.run("-n2", "test_own.py", "--mlab-agent=agents:note").assert_outcomes(passed=6)


def test_a_worker_that_dies_takes_no_trial_with_it_but_its_own(timed: Project) -> None:
    make_task(timed, "deadly", 50.0)
    for name in "abcdef":
        make_task(timed, name, 1.0)
    run = timed.run("-n2", "tasks", "--mlab-agent=agents:kill")
    assert run.ret == 1
    assert Counter(read_log(timed)) == Counter(["deadly", *"abcdef"])
    statuses = timed.statuses()
    assert statuses.pop("deadly") == "harness-error"
    assert statuses == dict.fromkeys("abcdef", "no-submission")


@pytest.mark.parametrize("option", ["-x", "--maxfail=1"])
def test_stopping_early_accounts_for_every_trial(timed: Project, option: str) -> None:
    for name in "abcdefgh":
        make_task(timed, name, 1.0, lasts=0.2)
    timed.run("-n2", option, "tasks", "--mlab-agent=agents:note")
    document = timed.document()
    ran = {record["task"] for record in document["results"]}
    missing = {name.split("[")[1][0] for name in document["not_run"]}
    assert 1 <= len(ran) <= 4, "each worker at most finishes what it has in hand"
    assert ran | missing == set("abcdefgh")
    assert not ran & missing


def test_failed_trials_alone_run_again(timed: Project) -> None:
    timed.task("cut")
    run = ["-n2", "tasks", "--mlab-agent=solution", "--mlab-agent=agents:do_nothing"]
    timed.write("agents.py", "def do_nothing(environment):\n    pass\n")
    timed.run(*run).assert_outcomes(passed=1, failed=1)
    timed.run(*run, "--lf").assert_outcomes(failed=1)
    assert list(timed.results()) == [nodeid("cut", "agents:do_nothing")]


def test_a_scheduler_of_the_users_own_and_other_kinds_are_left_alone(timed: Project) -> None:
    make_task(timed, "a", 1.0)
    kinds = timed.run("-n2", "-v", "--dist=worksteal", "tasks", "--mlab-agent=agents:note")
    kinds.stdout.fnmatch_lines(["scheduling tests via WorkStealingScheduling"])
    timed.write(
        "conftest.py",
        "from xdist.scheduler import LoadFileScheduling\n\n"
        "def pytest_xdist_make_scheduler(config, log):\n"
        "    return LoadFileScheduling(config, log)\n",
    )
    own = timed.run("-n2", "-v", "tasks", "--mlab-agent=agents:note")
    own.stdout.fnmatch_lines(["scheduling tests via LoadFileScheduling"])


def test_a_cache_that_makes_no_sense_is_passed_over(timed: Project) -> None:
    make_task(timed, "a", 1.0)
    cache = timed.write(".pytest_cache/v/mlab/seconds", '["nonsense"]')
    timed.run("-n2", "tasks", "--mlab-agent=agents:note").assert_outcomes(failed=1)
    assert "a agents:note" in json.loads(cache.read_text())


def test_a_worker_that_has_died_unnoticed_is_dealt_nothing(timed: Project) -> None:
    """Its last report may be dealt with when it is gone: xdist learns of that a moment later."""
    for name in "abcdef":
        make_task(timed, name, 1.0)
    timed.write(
        "conftest.py",
        """
import sys
import pytest

sys.setswitchinterval(60)  # xdist's other thread, which would notice, does not come to its turn

@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_make_scheduler(config):
    scheduler = yield
    dealt = scheduler.mark_test_complete

    def close_first(node, item_index, duration=0):
        if node.gateway.id == "gw0":
            node.gateway._io.popen.kill()
            for _ in range(5_000_000):  # until the system has closed its pipes
                pass
        dealt(node, item_index, duration)

    scheduler.mark_test_complete = close_first
    return scheduler
""",
    )
    run = timed.run("-n2", "tasks", "--mlab-agent=agents:note")
    assert "INTERNALERROR" not in run.stdout.str()
    assert set(timed.statuses()) == set("abcdef")
