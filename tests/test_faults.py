"""What goes wrong around a trial is never the agent's fault, and says what to do."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.environment import Environment
from pytest_mlab.exceptions import InfraError
from pytest_mlab.results import Result
from pytest_mlab.runs import HISTORY, RESULT, TRACE
from pytest_mlab.trace import Trace, read_trace
from pytest_mlab.trial import run_trial
from pytest_mlab.world import open_environment
from tests.folders import load
from tests.projects import Project
from tests.worlds import make_setup


@contextmanager
def full_disk(room: int = 0) -> Iterator[None]:
    """Let no file grow beyond so many bytes, as where the disk has no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Filler:
    """Meets a full disk in its second step, and may take no notice."""

    asks_llm = False

    def __init__(self, *, swallows: bool) -> None:
        self.swallows = swallows

    def run(self, environment: Environment) -> None:
        """List files, before and after."""
        environment.act("List Files", dir_path=".")
        try:
            with full_disk():
                environment.act("List Files", dir_path=".")
        except Exception:
            if not self.swallows:
                raise
        environment.act("Write File", file_name="submission.csv", content="")
        environment.act("Final Answer", final_answer="")


@pytest.mark.parametrize("swallows", [False, True])
def test_a_full_disk_is_an_infra_error_whatever_the_agent_makes_of_it(
    tmp_path: Path, swallows: bool
) -> None:
    setup = make_setup(tmp_path / "trial", load(tmp_path))
    with (
        open_environment(setup, ACTIONS) as environment,
        pytest.raises(InfraError, match="make room there or name another folder"),
    ):
        run_trial(setup, Filler(swallows=swallows), environment)
    result = Result.from_json((setup.folder / RESULT).read_text())
    assert (result.status, result.steps) == ("infra-error", 2)
    assert str(setup.folder / HISTORY) in result.detail
    steps = [event for event in read_trace(setup.folder / TRACE) if event["event"] == "step"]
    assert len(steps) == 1


def test_output_that_cannot_be_kept_is_an_infra_error(tmp_path: Path) -> None:
    setup = make_setup(tmp_path / "trial", load(tmp_path))
    with open_environment(setup, ACTIONS) as environment:
        environment.start()
        with full_disk(), pytest.raises(InfraError, match="could not be run, or its output kept"):
            environment.act("Execute Script", script_name="train.py")


def test_a_trace_without_room_keeps_its_whole_lines(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace.jsonl")
    trace.append("one", text="x" * 100)
    room = (tmp_path / "trace.jsonl").stat().st_size + 20
    with full_disk(room), pytest.raises(InfraError, match=r"trace.jsonl: .*make room there"):
        trace.append("two", text="x" * 100)
    trace.append("three")
    trace.close()
    assert [event["event"] for event in read_trace(tmp_path / "trace.jsonl")] == ["one", "three"]


def test_a_line_that_is_damaged_ends_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_bytes(b'{"event": "one"}\n\0\0\0\n{"event": "three"}\n')
    assert list(read_trace(tmp_path / "trace.jsonl")) == [{"event": "one"}]


def test_in_a_session_a_full_disk_is_an_error_with_a_remedy(project: Project) -> None:
    agents = (project.path / "agents.py").read_text()
    project.write(
        "agents.py",
        f"{agents}\n\nimport resource\n\n\n"
        "def fill(environment):\n"
        '    environment.act("List Files", dir_path=".")\n'
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\n"
        "    try:\n"
        '        environment.act("List Files", dir_path=".")\n'
        "    finally:\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n",
    )
    project.task("cut")
    run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=agents:fill")
    run.assert_outcomes(errors=1)
    assert "make room there or name another folder with --mlab-results" in run.stdout.str()
    assert project.statuses() == {"cut": "infra-error"}
    # and once there is room
    project.write("agents.py", agents.replace("def solve(", "def fill("))
    run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=agents:fill", "--mlab-resume")
    run.assert_outcomes(passed=1)
    assert "starts over: it ended in an infra-error" in run.stdout.str()


def test_a_trial_that_fills_its_workspace_is_told_and_harms_no_other(project: Project) -> None:
    project.task("threshold", resources={"workspace_gb": 0.05})
    run = project.run("tasks", "--mlab-agent=agents:overfill", "--mlab-agent=agents:solve")
    run.assert_outcomes(passed=2)
    traces = [read_trace(path) for path in project.sessions[-1].rglob(TRACE)]
    observations = [
        event["observation"] for trace in traces for event in trace if event["event"] == "step"
    ]
    full = [text for text in observations if "more than the 0.05 GB that it may" in text]
    assert len(full) == 1
