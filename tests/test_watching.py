"""Progress while trials run, on a terminal, in a log and nowhere."""

import re
import sys

import pytest

from tests.projects import Project, has_xdist
from tests.terminals import show

AGENTS = """
import time

def slow(environment):
    environment.act("Execute Script", script_name="train.py")
    print("what the agent prints")
    time.sleep(2)
    environment.act("List Files", dir_path=".")
    time.sleep(0.5)
    environment.act("Final Answer", final_answer="x")
"""
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "--tb=no", "--no-header"]
RUN = ["tasks", "--mlab-agent=agents:slow"]

needs_xdist = pytest.mark.skipif(not has_xdist(), reason="pytest-xdist is not installed")


@pytest.fixture
def slow(project: Project) -> Project:
    """A project whose agent takes its time."""
    project.task("cut", limits={"expected_seconds": 30, "steps": 9})
    project.write("agents.py", AGENTS)
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    return project


def settle(text: str) -> list[str]:
    """Give what was shown, without what differs from session to session."""
    lines = re.sub(r"\d+(\.\d+)?(?= ?(s\b|min))|\d{8}-\d+-\w+|\bgw\d", "#", text).splitlines()
    return [re.sub(r"=+|\s+", " ", line) for line in lines if line.strip()]


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(["-p", "no:xdist", "-v"], id="alone -v"),
        pytest.param(["-n2"], id="workers", marks=needs_xdist),
        pytest.param(["-p", "no:xdist", "-q"], id="alone -q", marks=pytest.mark.slow),
        pytest.param(["-p", "no:xdist"], id="alone", marks=pytest.mark.slow),
        pytest.param(
            ["-n2", "-v", "--color=no"],
            id="workers -v",
            marks=[needs_xdist, pytest.mark.slow],
        ),
    ],
)
def test_a_terminal_shows_what_runs_and_in_the_end_what_it_shows_else(
    slow: Project, args: list[str]
) -> None:
    shown = show([*PYTEST, *args, *RUN], slow.path)
    pictures = "\n".join(shown.pictures)
    assert re.search(r"mlab: 0 of 1 trial done, 0 successes, 1 running, about 2\d s left", pictures)
    worker = "gw[01]" if "-n2" in args else "main"
    row = rf"{worker} +cut · agents:slow · trial 1  step [12]/9 +\d\.\d s +validation 0\.7"
    assert re.search(row, pictures)
    plain = show([*PYTEST, *args, *RUN, "--mlab-progress=none"], slow.path)
    assert settle(shown.last) == settle(plain.last)
    assert "running" not in "\n".join(plain.pictures)
    assert not list(slow.path.glob(".mlab/*/workers"))


@pytest.mark.parametrize("args", [["-p", "no:xdist", "-v"], ["-p", "no:xdist", "-s"]], ids=" ".join)
def test_a_log_gets_lines_at_intervals(slow: Project, args: list[str]) -> None:
    run = slow.run(*args, *RUN, "--mlab-progress=plain:0.8", "--tb=no")
    text = run.stdout.str()
    assert "\x1b" not in text
    assert re.search(
        r"^mlab: 0 of 1 trial done, 0 successes, 1 running, about 2\d s left\n"
        r"  main  cut · agents:slow · trial 1  step 1/9  \d\.\d s  validation 0\.7$",
        text,
        flags=re.MULTILINE,
    )
    if "-v" in args:
        run.stdout.re_match_lines([r"tasks/cut/.*\[cut-agents:slow-trial1\] FAILED +\[100%\]"])
    else:
        assert "what the agent prints\n" in text


@needs_xdist
def test_a_log_says_on_which_device_a_trial_runs_and_what_another_waits_for(slow: Project) -> None:
    for name in ("one", "two"):
        slow.task(name, resources={"gpus": 1}, limits={"steps": 9})
    args = ["tasks/one", "tasks/two", "--mlab-agent=agents:slow", "--mlab-gpus=7"]
    text = slow.run("-n2", *args, "--mlab-progress=plain:0.4").stdout.str()
    assert re.search(r"^  gw\d  \w+ · .*step \d/9 .* GPU 7  validation 0\.7$", text, re.MULTILINE)
    assert re.search(r"^  gw\d  \w+ · .*waits for GPUs  \d", text, re.MULTILINE)
    assert "left" not in text, "nothing is known of how long these take"


@pytest.mark.parametrize("args", [["-qq"], ["--mlab-progress=none"]], ids=" ".join)
def test_it_can_be_left_out(slow: Project, args: list[str]) -> None:
    slow.write("pytest.ini", "[pytest]\npythonpath = .\nmlab_progress = plain:0.4\n")
    told = slow.run("-p", "no:xdist", *RUN).stdout.str()
    assert "1 running" in told
    slow.write("pytest.ini", "[pytest]\npythonpath = .\n")
    assert "1 running" not in slow.run("-p", "no:xdist", *RUN, *args).stdout.str()


def test_a_kind_that_does_not_exist_is_refused(slow: Project) -> None:
    for value in ("loud", "plain:", "plain:0", "plain:-1", "live:3"):
        message = slow.refuse("tasks", f"--mlab-progress={value}")
        assert message == (
            f'--mlab-progress: "{value}" is not auto, live, plain, plain:SECONDS or none'
        )
