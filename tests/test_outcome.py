"""Every trial ends in exactly one status, and pytest, JUnit, table and document all say the same.

The agents are those of ``sample_agents.py``.
"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.projects import BLOCKED, Project, has_xdist, nodeid, properties, read_junit

needs_xdist = pytest.mark.skipif(not has_xdist(), reason="pytest-xdist is not installed")

# pytest 8 has no reason in its short summary for a failure without a traceback.
REASON = " - cut · baseline · trial 1: below-*" if pytest.version_tuple >= (9,) else ""

RAISING_SCORER = "def score(submission, private):\n    return 1 / 0\n"
ENDLESS_SCORER = "import time\n\ndef score(submission, private):\n    time.sleep(600)\n"
RAISING_PREPARER = "def build(raw, public, private):\n    raise KeyError('rows')\n"
UNREACHABLE = "def build(raw, public, private):\n    raise ConnectionError('no route to host')\n"


def elements(case: ET.Element) -> list[str]:
    """Give what a test case says of its outcome: nothing where it passed."""
    return [child.tag for child in case if child.tag in ("failure", "error", "skipped")]


def message(case: ET.Element) -> str:
    """Give the message of the one outcome that a test case has."""
    (tag,) = elements(case)
    element = case.find(tag)
    assert element is not None
    return element.attrib["message"]


def test_what_an_agent_does_decides_its_status(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    project.task("cut", limits={"steps": 9})
    expected = {
        "solution": ("success", "submitted", None, ""),
        "baseline": ("below-threshold", "submitted", "failure", "needs more than +10"),
        "agents:misuse": ("below-threshold", "gave-up", "failure", "needs more than +10"),
        "agents:scribble": ("invalid-submission", "submitted", "failure", "submission.csv"),
        "agents:do_nothing": ("no-submission", "gave-up", "failure", "there is no submission.csv"),
        "agents:loop": ("no-submission", "steps", "failure", "there is no submission.csv"),
        "agents:crash": ("agent-error", "crashed", "failure", "ValueError: lost the thread"),
    }
    run = project.run(
        *plugin_args, "tasks", *(f"--mlab-agent={name}" for name in expected), "--junitxml=j.xml"
    )
    run.assert_outcomes(passed=1, failed=6)
    run.stdout.fnmatch_lines(
        ["7 trials: 1 success (*), 2 below-threshold, 1 invalid-submission,", "*2 no-submission*"]
    )
    suite, cases = read_junit(project.path / "j.xml")
    assert suite["mlab.trials"] == "7"
    assert float(suite["mlab.success_rate"]) == pytest.approx(1 / 7)
    for name, (status, stop, element, reason) in expected.items():
        result = project.results()[nodeid("cut", name)]
        case = cases[f"test_beats_baseline[cut-{name}-trial1]"]
        assert (result.status, result.stop) == (status, stop)
        assert properties(case)["mlab.status"] == status
        assert elements(case) == ([element] if element else [])
        if element:
            assert reason in message(case)
    assert project.document()["summary"]["total"]["trials"] == 7


def test_what_is_not_the_agents_fault_is_an_error(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    project.task("raising", files={"score.py": RAISING_SCORER})
    project.task("endless", files={"score.py": ENDLESS_SCORER}, limits={"scoring_seconds": 0.5})
    project.task("unprepared", files={"prepare.py": RAISING_PREPARER})
    project.task("unreachable", files={"prepare.py": UNREACHABLE})
    project.task("well")
    run = project.run(*plugin_args, "tasks", "--mlab-agent=solution", "--junitxml=j.xml")
    run.assert_outcomes(passed=1, errors=4)
    run.stdout.no_fnmatch_line("*pytest_mlab/*")
    expected = {
        "endless": ("harness-error", "scoring_seconds = 0.5"),
        "raising": ("harness-error", "ZeroDivisionError"),
        "unprepared": ("harness-error", "KeyError: 'rows'"),
        "unreachable": ("infra-error", "no route to host"),
        "well": ("success", ""),
    }
    suite, cases = read_junit(project.path / "j.xml")
    assert (suite["mlab.trials"], suite["mlab.errors"]) == ("5", "4")
    results = project.results()
    for task, (status, reason) in expected.items():
        result = results[nodeid(task, "solution")]
        assert result.status == status
        assert reason in result.detail
        case = cases[f"test_beats_baseline[{task}-solution-trial1]"]
        assert properties(case)["mlab.status"] == status
        assert elements(case) == ([] if status == "success" else ["error"])


def test_what_is_missing_here_is_a_skip_with_its_remedy(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    project.task("chemistry", resources={"requires": ["no-such-package>=2"]})
    project.task("large", resources={"gpus": 2})
    project.task("modest", resources={"gpus": 2, "gpus_optional": True})
    run = project.run(
        *plugin_args,
        *("tasks", "--mlab-agent=solution", "--mlab-gpus=none", "-rs", "--junitxml=j.xml"),
    )
    run.assert_outcomes(passed=1, skipped=2)
    assert run.ret == pytest.ExitCode.OK
    run.stdout.fnmatch_lines_random(
        [
            'skipped chemistry (1): *pip install "no-such-package>=2"',
            "skipped large (1): needs 2 GPU(s), and there are 0; *--mlab-gpus*",
        ]
    )
    suite, cases = read_junit(project.path / "j.xml")
    assert (suite["mlab.trials"], suite["mlab.skipped"]) == ("1", "2")
    modest = next(case for name, case in cases.items() if "[modest-" in name)
    assert properties(modest)["mlab.status"] == "success"
    remedies = sorted(message(case) for case in cases.values() if case is not modest)
    assert 'pip install "no-such-package>=2"' in remedies[1]
    assert {skip["task"] for skip in project.document()["skipped"]} == {"chemistry", "large"}


def test_a_failure_is_told_in_one_line_and_without_a_traceback(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    project.task("cut")
    run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=baseline")
    run.stdout.fnmatch_lines(
        [
            "*below-threshold  cut · baseline · trial 1  accuracy 0.7 against 0.7 (+0.0 %)*",
            "*= FAILURES =*",
            "*_ test_beats_baseline[[]cut-baseline-trial1] _*",
            "cut · baseline · trial 1: below-threshold; accuracy 0.7 against a baseline of 0.7 *",
            "*= short test summary info =*",
            f"FAILED {nodeid('cut').replace('[', '[[]')}{REASON}",
        ]
    )


@needs_xdist
def test_a_killed_worker_is_a_harness_error_and_the_rest_runs(project: Project) -> None:
    for name in ("first", "second", "third"):
        project.task(name)
    run = project.run(
        *("-n2", "tasks", "--mlab-agent=agents:kill", "--mlab-agent=solution"),
        *("-k", "(second and kill) or solution", "--junitxml=j.xml"),
    )
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(["4 trials: 3 successes *, 1 harness-error, *"])
    results = project.results()
    killed = results[nodeid("second", "agents:kill")]
    assert (killed.status, killed.stop) == ("harness-error", "crashed")
    assert len(results) == 4
    _, cases = read_junit(project.path / "j.xml")
    assert "error" in elements(cases["test_beats_baseline[second-agents:kill-trial1]"])


def start(project: Project, *args: str) -> subprocess.Popen[str]:
    """Start a session that the test is going to interrupt."""
    blocked = [part for name in BLOCKED for part in ("-p", f"no:{name}")]
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *blocked, *args],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(project: Project, pattern: str) -> Path:
    """Wait until a session has recorded something."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = next(project.path.glob(f".mlab/*/{pattern}"), None)
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError(f"no {pattern} within a minute")


def test_an_interrupt_keeps_what_is_finished(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    for name in ("a", "b", "c"):
        project.task(name)
    agents = ["--mlab-agent=solution", "--mlab-agent=agents:sleep"]
    process = start(project, *plugin_args, "tasks", *agents, "--mlab-json=out.json")
    try:
        wait_for(project, "*sleep*/trace.jsonl")
        wait_for(project, "a-solution*/result.json")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    document: dict[str, Any] = json.loads((project.path / "out.json").read_text())
    finished = [record["nodeid"] for record in document["results"]]
    assert nodeid("a", "solution") in finished
    assert len(finished) + len(document["not_run"]) == 6
    assert {record["status"] for record in document["results"]} == {"success"}
    for record in document["results"]:
        assert json.loads((Path(record["folder"]) / "result.json").read_text()) == record


def test_ctrl_c_of_a_trial_counts_it_as_not_run(project: Project) -> None:
    project.task("cut")
    run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=agents:interrupt")
    assert run.ret == pytest.ExitCode.INTERRUPTED
    run.stdout.fnmatch_lines(["*1 not run*", "*KeyboardInterrupt*"])
    assert project.document()["not_run"] == [nodeid("cut", "agents:interrupt")]


NET = """
    import pytest, time

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(items):
        for item in items:
            item.add_marker(pytest.mark.timeout(2), append=False)
"""


def test_pytest_timeout_is_the_net_under_an_agent_that_cannot_be_stopped(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    pytest.importorskip("pytest_timeout")
    project.task("cut")
    project.task("slice")
    project.pytester.makeconftest(NET)
    run = project.run(
        *plugin_args, "tasks", "--mlab-agent=agents:ignore_signals", "--mlab-agent=solution"
    )
    run.assert_outcomes(passed=2, errors=2)
    stopped = project.results()[nodeid("cut", "agents:ignore_signals")]
    assert stopped.status == "harness-error"
    assert "Timeout" in stopped.detail


def test_the_deadline_is_ours_and_what_lies_there_is_scored(project: Project) -> None:
    project.task("cut", limits={"seconds": 0.5})
    project.pytester.makeconftest("import pytest_mlab.trial\n\npytest_mlab.trial.GRACE = 0.1\n")
    run = project.run("-p", "no:timeout", "-p", "no:xdist", "tasks", "--mlab-agent=agents:sleep")
    run.assert_outcomes(failed=1)
    (result,) = project.results().values()
    assert (result.status, result.stop) == ("no-submission", "time")


HOOK = """
    import pytest

    @pytest.hookimpl
    def pytest_mlab_trial_finished(result):
        raise OSError("the disk is full")
"""


def test_a_hook_that_raises_is_an_error_and_the_result_stands(project: Project) -> None:
    project.task("cut")
    project.pytester.makeconftest(HOOK)
    run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=solution")
    run.assert_outcomes(errors=1)
    run.stdout.fnmatch_lines(["E * OSError: the disk is full"])
    assert project.statuses() == {"cut": "success"}


def test_an_expected_failure_stays_in_the_denominator(project: Project) -> None:
    folder = project.task("cut")
    project.write(f"{folder}/conftest.py", XFAIL)
    run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=baseline")
    run.assert_outcomes(xfailed=1)
    assert project.statuses() == {"cut": "below-threshold"}


XFAIL = """
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xfail(reason="known to be hard"))
"""

RERUN = """
    from _pytest.runner import runtestprotocol

    def pytest_runtest_protocol(item, nextitem):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for _ in range(2):
            item._initrequest()
            runtestprotocol(item, nextitem=nextitem, log=True)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True
"""


def test_a_rerun_of_the_same_test_is_recorded_beside_the_first(project: Project) -> None:
    project.task("cut")
    project.pytester.makeconftest(RERUN)
    project.run("-p", "no:xdist", "tasks", "--mlab-agent=solution").assert_outcomes(passed=2)
    folders = sorted(path.parent.name for path in project.sessions[-1].glob("*/result.json"))
    assert len(folders) == 2
    assert folders[1] == f"{folders[0]}.2"
    assert len(project.document()["results"]) == 2
