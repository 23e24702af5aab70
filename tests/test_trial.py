"""A trial has exactly one status, and a reason why it stopped, whatever the agent does."""

import json
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import InfraError, MlabError, TaskError, Unavailable
from pytest_mlab import trial as trials
from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents.baseline import BaselineAgent
from pytest_mlab.agents.solution import SolutionAgent
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.results import Result
from pytest_mlab.runs import RESULT
from pytest_mlab.sandbox import find_sandbox
from pytest_mlab.trace import read_trace
from pytest_mlab.trial import run_trial
from pytest_mlab.world import open_environment
from tests.folders import SOLUTION, load
from tests.worlds import make_setup

Run = Callable[[Environment], None]

RIGHT = "id,label\n" + "".join(f"{n},{int(n * 7 % 10 >= 4)}\n" for n in range(100))


class Agent:
    """An agent that is a function."""

    def __init__(self, run: Run) -> None:
        self.run = run


def try_it(folder: Path, run: Run, limits: Limits | None = None, **changes: Any) -> Result:
    """Let a function take a turn at a task made with ``changes``."""
    setup = make_setup(folder / "trial", load(folder, **changes), limits, seed=7)
    with open_environment(setup, ACTIONS) as environment:
        result = run_trial(setup, Agent(run), environment)
    recorded = Result.from_json((folder / "trial" / RESULT).read_text())
    assert recorded == result
    return result


def hand_in(environment: Environment, content: str = RIGHT) -> None:
    """Write a submission without running anything."""
    environment.act("Write File", file_name="submission.csv", content=content)


def submit(environment: Environment) -> None:
    environment.act("Final Answer", final_answer="done")


def last_event(folder: Path) -> dict[str, Any]:
    """Give the end of the trace."""
    *_, end = read_trace(folder / "trial" / "trace.jsonl")
    return end


class TestStatus:
    def test_success(self, tmp_path: Path) -> None:
        result = try_it(tmp_path, SolutionAgent().run)
        assert (result.status, result.stop, result.score) == ("success", "submitted", 1.0)
        assert result.baseline == 0.7
        assert result.improvement == pytest.approx(3 / 7)
        assert (result.metric, result.threshold, result.steps) == ("accuracy", 0.10, 3)
        assert (result.seed, result.task, result.trial) == (7, "threshold", 1)
        assert 0 < result.seconds < 10
        assert result.folder == str(tmp_path / "trial")

    def test_below_threshold(self, tmp_path: Path) -> None:
        result = try_it(tmp_path, BaselineAgent().run)
        assert (result.status, result.stop, result.score) == ("below-threshold", "submitted", 0.7)
        assert result.improvement == pytest.approx(0)

    def test_the_threshold_has_to_be_exceeded(self, tmp_path: Path) -> None:
        """An improvement of exactly the threshold is none."""
        scorer = "def score(submission, private):\n    return 55.0\n"
        changes: dict[str, Any] = {"metric": {"bound": None}, "baseline": {"score": 50}}
        result = try_it(tmp_path, hand_in, files={"score.py": scorer}, **changes)
        assert (result.improvement, result.status) == (0.1, "below-threshold")

    def test_invalid_submission(self, tmp_path: Path) -> None:
        result = try_it(tmp_path, lambda environment: hand_in(environment, "id,label\n"))
        assert (result.status, result.score, result.baseline) == ("invalid-submission", None, 0.7)
        assert "has 0 rows, but 100 are asked for" in result.detail

    def test_no_submission(self, tmp_path: Path) -> None:
        result = try_it(tmp_path, submit)
        assert (result.status, result.score) == ("no-submission", None)
        assert result.detail == "there is no submission.csv in the workspace"

    def test_harness_error(self, tmp_path: Path) -> None:
        with pytest.raises(TaskError, match=r"score\(\) raised"):
            try_it(tmp_path, hand_in, files={"score.py": "def score(a, b):\n    1 / 0\n"})
        result = Result.from_json((tmp_path / "trial" / RESULT).read_text())
        assert (result.status, result.score) == ("harness-error", None)
        assert "ZeroDivisionError" in result.detail

    def test_infra_error(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            raise InfraError("the provider is down")

        with pytest.raises(InfraError):
            try_it(tmp_path, run)
        result = Result.from_json((tmp_path / "trial" / RESULT).read_text())
        assert (result.status, result.detail) == ("infra-error", "the provider is down")

    def test_what_is_not_here_is_no_result(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            raise Unavailable("pip install something")

        with pytest.raises(Unavailable):
            try_it(tmp_path, run)
        assert not (tmp_path / "trial" / RESULT).exists()

    @pytest.mark.parametrize("number", ["1e308", "-1.7e308"])
    def test_absurdly_large_scores_are_results_too(self, tmp_path: Path, number: str) -> None:
        scorer = f"def score(submission, private):\n    return {number}\n"
        changes: dict[str, Any] = {"metric": {"bound": None}, "baseline": {"score": 1e-300}}
        result = try_it(tmp_path, hand_in, files={"score.py": scorer}, **changes)
        assert result.status == ("below-threshold" if number.startswith("-") else "success")


class TestAnAgentThatRaises:
    @pytest.mark.parametrize(
        ("error", "detail"),
        [
            (ValueError("oops\nsecond line"), "the agent raised ValueError: oops"),
            (KeyError("key"), "the agent raised KeyError: 'key'"),
            (AssertionError(), "the agent raised AssertionError"),
            (SystemExit(0), "the agent raised SystemExit: 0"),
            (ValueError("half \ud800"), "the agent raised ValueError: half \\ud800"),
        ],
    )
    def test_is_an_agent_error(self, tmp_path: Path, error: BaseException, detail: str) -> None:
        def run(environment: Environment) -> None:
            raise error

        result = try_it(tmp_path, run)
        assert (result.status, result.stop, result.detail) == ("agent-error", "crashed", detail)
        assert type(error).__name__ in last_event(tmp_path)["crash"]

    def test_sys_exit_ends_the_agent_not_the_session(self, tmp_path: Path) -> None:
        assert try_it(tmp_path, lambda environment: sys.exit(3)).status == "agent-error"

    def test_endless_recursion_is_an_agent_error(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            run(environment)

        assert "RecursionError" in try_it(tmp_path, run).detail

    def test_its_score_is_recorded_all_the_same(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            hand_in(environment)
            raise ValueError("after the work was done")

        result = try_it(tmp_path, run)
        assert (result.status, result.score, result.steps) == ("agent-error", 1.0, 1)

    def test_the_users_interrupt_goes_through(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            try_it(tmp_path, run)


class TestStop:
    def test_gave_up(self, tmp_path: Path) -> None:
        result = try_it(tmp_path, hand_in)
        assert (result.stop, result.status) == ("gave-up", "success")
        assert try_it(tmp_path / "idle", lambda environment: None).status == "no-submission"

    def test_steps(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            hand_in(environment)
            while True:
                environment.act("List Files", dir_path=".")

        result = try_it(tmp_path, run, Limits(seconds=30, steps=4))
        assert (result.stop, result.steps, result.status) == ("steps", 4, "success")

    def test_time(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            hand_in(environment)
            environment.act("Write File", file_name="a.py", content="import time; time.sleep(60)")
            while True:
                environment.act("Execute Script", script_name="a.py")

        result = try_it(tmp_path, run, Limits(seconds=0.5, steps=99))
        assert (result.stop, result.status) == ("time", "success")
        assert result.seconds < 5

    def test_submitted_or_a_limit_even_where_the_agent_swallowed_it(self, tmp_path: Path) -> None:
        def swallow(act: Run) -> Run:
            def run(environment: Environment) -> None:
                hand_in(environment)
                for _ in range(5):
                    try:
                        act(environment)
                    except BaseException:
                        continue

            return run

        assert try_it(tmp_path / "a", swallow(submit)).stop == "submitted"
        limits = Limits(seconds=30, steps=3)
        result = try_it(tmp_path / "b", swallow(hand_in), limits)
        assert (result.stop, result.steps) == ("steps", 3)

    def test_it_is_in_the_trace(self, tmp_path: Path) -> None:
        try_it(tmp_path, submit)
        end = last_event(tmp_path)
        assert (end["event"], end["stop"], end["crash"]) == ("end", "submitted", "")


class TestAnAgentThatHangs:
    """Its time and a grace are up: it is interrupted, and what it has left is scored."""

    @pytest.fixture(autouse=True)
    def short_grace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trials, "GRACE", 0.1)

    @pytest.mark.timeout(20)
    @pytest.mark.parametrize("kind", ["computes", "sleeps", "swallows"])
    def test_is_stopped_at_its_time_and_scored(self, tmp_path: Path, kind: str) -> None:
        def run(environment: Environment) -> None:
            hand_in(environment)
            while True:
                try:
                    time.sleep(60 if kind == "sleeps" else 0)
                    environment.remaining  # noqa: B018
                except BaseException:
                    if kind != "swallows":
                        raise

        result = try_it(tmp_path, run, Limits(seconds=0.2, steps=99))
        assert (result.stop, result.status, result.score) == ("time", "success", 1.0)
        assert result.seconds < 5


class TestTheFinalWorkspace:
    def test_is_what_counts_not_the_best_seen(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            hand_in(environment)
            BaselineAgent().run(environment)

        assert try_it(tmp_path, run).score == 0.7

    def test_is_not_changed_by_what_the_agent_left_running(self, tmp_path: Path) -> None:
        """A thread of the REPL would go on writing while the submission is scored."""
        code = (
            "import threading, time\n"
            "def go_on():\n"
            "    while True:\n"
            "        open('alive.txt', 'a').write('x'); time.sleep(0.01)\n"
            "threading.Thread(target=go_on, daemon=True).start()\n"
        )

        def run(environment: Environment) -> None:
            assert environment.act("Python REPL", command=code).ok
            submit(environment)

        slow = "import time\ndef score(a, b):\n    time.sleep(0.3); return 0.7\n"
        try_it(tmp_path, run, files={"score.py": slow})
        alive = tmp_path / "trial" / "workspace" / "alive.txt"
        size = alive.stat().st_size if alive.exists() else 0
        time.sleep(0.1)
        assert (alive.stat().st_size if alive.exists() else 0) == size
        assert size < 20

    def test_stays_in_the_record(self, tmp_path: Path) -> None:
        try_it(tmp_path, SolutionAgent().run)
        assert (tmp_path / "trial" / "workspace" / "train.py").read_text() == SOLUTION
        printed = (tmp_path / "trial" / "outputs" / "0001.txt").read_text()
        assert printed == "validation accuracy: 1.0000\n"


def test_the_solution_agent_needs_a_solution(tmp_path: Path) -> None:
    with pytest.raises(MlabError, match="has no solution/ for the solution agent"):
        try_it(tmp_path, SolutionAgent().run, files={"solution/train.py": None})


def test_the_device_and_the_threads_reach_the_scripts(tmp_path: Path) -> None:
    task = load(tmp_path)
    setup = make_setup(tmp_path / "trial", task, devices=("3", "5"), threads=2)
    code = "import os; print(os.environ['CUDA_VISIBLE_DEVICES'], os.environ['OMP_NUM_THREADS'])"
    with open_environment(setup, ACTIONS) as environment:
        environment.start()
        assert environment.act("Python REPL", command=code).text == "3,5 2\n"


@pytest.mark.parametrize("network", [False, True])
def test_the_network_is_for_the_scripts_of_tasks_that_ask_for_it(
    tmp_path: Path, network: bool
) -> None:
    if (sandbox := find_sandbox("auto")).name == "none":
        pytest.skip("no sandbox works here")
    task = load(tmp_path, resources={"network": network})
    code = "import socket; socket.create_connection(('127.0.0.1', {}), 5)"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        open_environment(make_setup(tmp_path / "trial", task, sandbox=sandbox), ACTIONS) as world,
    ):
        world.start()
        port = server.getsockname()[1]
        text = world.act("Python REPL", command=code.format(port)).text
        assert ("Error" not in text) is network


def test_a_workspace_that_is_full_stops_a_script_and_the_trial_goes_on(tmp_path: Path) -> None:
    task = load(tmp_path, resources={"workspace_gb": 0.05})
    fill = """
import time
for number in range(400):
    open(f"{number}.bin", "wb").write(bytes(1_000_000))
    time.sleep(0.01)
"""
    delete = "import glob, os; print(len([os.remove(name) for name in glob.glob('*.bin')]))"
    full = "delete what is not needed"
    with open_environment(make_setup(tmp_path / "trial", task), ACTIONS) as world:
        world.start()
        world.act("Write File", file_name="fill.py", content=fill)
        filled = world.act("Execute Script", script_name="fill.py")
        assert not filled.ok
        assert "more than the 0.05 GB that it may; " + full in filled.text
        copied = world.act("Copy File", source="0.bin", destination="copy.bin")
        assert not copied.ok
        assert full in copied.text
        assert int(world.act("Python REPL", command=delete).text) > 40
        assert world.act("Execute Script", script_name="train.py").ok


def test_the_record_says_whose_it_is_before_anything_happens(tmp_path: Path) -> None:
    setup = make_setup(tmp_path / "trial", load(tmp_path))
    with open_environment(setup, ACTIONS):
        (start,) = (
            json.loads(line)
            for line in (tmp_path / "trial" / "trace.jsonl").read_text().splitlines()
        )
    assert (start["event"], start["agent"], start["task_digest"]) == (
        "start",
        "agent",
        setup.task.digest,
    )
