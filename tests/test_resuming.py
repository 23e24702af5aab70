"""Going on after an interrupted session: nothing is lost, run twice or silently mixed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mlab import decoys, resuming, runs
from pytest_mlab.exceptions import UsageError
from pytest_mlab.history import read_history
from pytest_mlab.results import Identity, Result
from pytest_mlab.resuming import Resumption
from pytest_mlab.trace import read_trace
from tests.processes import is_alive, wait_until
from tests.projects import Project, has_xdist, nodeid, properties, read_junit

CONDITIONS = {"threshold": "0.1", "steps": "30"}
NODEID = nodeid("cut")

AGENTS = '''

class Walker:
    """Writes a file a step, and dies in the midst of step 4 unless it has died before."""

    asks_llm = False
    goes_on = True

    def run(self, environment):
        here = len(environment.steps)
        for number in range(here, 6):
            environment.act("Write File", file_name=f"{number}.txt", content=str(number))
            if number == 3 and not here:
                self.end()
        assert [step.arguments["file_name"] for step in environment.steps] == [
            f"{number}.txt" for number in range(6)
        ]
        solve(environment)

    def end(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Forgetful(Walker):
    """Keeps what it knows to itself; in another process it does not die again."""

    goes_on = False

    def end(self):
        if not os.path.exists("died"):
            open("died", "w").close()
            super().end()


class Once(Forgetful):
    """Goes on where it can, and does not die again where it cannot."""

    goes_on = True


class Waiting(Walker):
    """Waits to be killed."""

    def end(self):
        time.sleep(600)


def die_second(environment):
    """Solve the first task; take the process down in the second, the first time."""
    if environment.task.name == "second" and not os.path.exists("died"):
        environment.act("List Files", dir_path=".")
        open("died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    solve(environment)


def fall_short(environment):
    """Hand in what is no better than the starter's."""
    environment.act("Execute Script", script_name="train.py")
    environment.act("Final Answer", final_answer="")
'''

NO_XDIST = ("-p", "no:xdist")


@pytest.fixture
def walkers(project: Project) -> Project:
    """A project whose agents end in ways of their own."""
    project.write("agents.py", (project.path / "agents.py").read_text() + AGENTS)
    project.task("cut")
    return project


def record(session: Path, result: Result | None = None, **conditions: str) -> Path:
    """Record a trial as a session does, with its result if it came to an end."""
    identity = make_identity()
    runs.write_plan(session, [identity])
    resuming.begin_session(session, None)
    folder = runs.open_folder(session, identity)
    resuming.write_conditions(folder, CONDITIONS | conditions)
    if result is not None:
        runs.record_result(folder, result)
    return folder


def make_identity() -> Identity:
    return Identity(
        task="cut", agent="a", llm=None, trial=1, nodeid=NODEID, task_digest="0", seed=0
    )


def make_result(status: str = "success") -> Result:
    return Result(**vars(make_identity()), status=status)  # type: ignore[arg-type]  # as a file has it


class TestFindingTheSession:
    def test_the_last_one_is_the_one_that_began_last_whatever_the_clock(
        self, tmp_path: Path
    ) -> None:
        record(tmp_path / "20261121-120000-aaaa")
        record(tmp_path / "20261121-110000-bbbb")  # the clock was set back
        assert resuming.find_session(tmp_path).name == "20261121-110000-bbbb"

    def test_without_a_pointer_it_is_the_last_by_name(self, tmp_path: Path) -> None:
        for name in ("20261121-120000-aaaa", "20261121-110000-bbbb"):
            record(tmp_path / name)
        (tmp_path / resuming.LATEST).unlink()
        assert resuming.find_session(tmp_path).name == "20261121-120000-aaaa"

    def test_one_may_be_named_by_its_folder(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            record(tmp_path / name)
        assert resuming.find_session(tmp_path / "one") == tmp_path / "one"

    def test_where_there_is_none_it_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"there is no session in .*leave the option out"):
            resuming.find_session(tmp_path)

    @pytest.mark.parametrize("change", [{"version": "0.0.1"}, {"format": "mlab-records/9"}, None])
    def test_of_another_version_it_is_refused(
        self, tmp_path: Path, change: dict[str, str] | None
    ) -> None:
        record(tmp_path / "one")
        file = tmp_path / "one" / resuming.SESSION
        file.write_text(json.dumps(json.loads(file.read_text()) | change) if change else "{")
        with pytest.raises(UsageError, match=r"was recorded by .*version"):
            resuming.find_session(tmp_path)

    def test_two_cannot_have_it_at_once(self, tmp_path: Path) -> None:
        record(tmp_path / "one")
        first = resuming.hold(tmp_path / "one", alone=True)
        assert first is not None
        assert resuming.hold(tmp_path / "one", alone=True) is None
        os.close(first)
        again = resuming.hold(tmp_path / "one", alone=True)
        assert again is not None
        os.close(again)


class TestATrial:
    def test_that_came_to_an_end_is_taken_over(self, tmp_path: Path) -> None:
        record(tmp_path / "one", make_result("below-threshold"))
        found = resuming.resume_trial(tmp_path / "one", NODEID, CONDITIONS)
        assert found.result is not None
        assert (found.result.status, found.result.resumed) == ("below-threshold", "one")

    @pytest.mark.parametrize("status", ["infra-error", "harness-error"])
    def test_that_ended_in_an_error_starts_over(self, tmp_path: Path, status: str) -> None:
        record(tmp_path / "one", make_result(status))
        found = resuming.resume_trial(tmp_path / "one", NODEID, CONDITIONS)
        assert found.result is None
        assert found.note.endswith(status)

    def test_that_was_not_begun_starts(self, tmp_path: Path) -> None:
        record(tmp_path / "one", make_result())
        found = resuming.resume_trial(tmp_path / "one", nodeid("other"), CONDITIONS)
        assert found == Resumption("starts: it had not begun")

    def test_under_other_conditions_is_another_trial_and_says_what_differs(
        self, tmp_path: Path
    ) -> None:
        record(tmp_path / "one", make_result(), threshold="0.2")
        found = resuming.resume_trial(tmp_path / "one", NODEID, CONDITIONS)
        assert found == Resumption("starts anew: threshold was 0.2, is 0.1")

    def test_of_the_session_that_was_resumed_before_counts_too(self, tmp_path: Path) -> None:
        record(tmp_path / "one", make_result())
        runs.write_plan(tmp_path / "two", [])
        resuming.begin_session(tmp_path / "two", tmp_path / "one")
        found = resuming.resume_trial(tmp_path / "two", NODEID, CONDITIONS)
        assert found.result is not None
        assert found.result.resumed == "one"

    def test_that_was_run_again_counts_as_it_was_then(self, tmp_path: Path) -> None:
        record(tmp_path / "one", make_result("below-threshold"))
        again = runs.open_folder(tmp_path / "one", make_identity())
        resuming.write_conditions(again, CONDITIONS)
        runs.record_result(again, make_result())
        found = resuming.resume_trial(tmp_path / "one", NODEID, CONDITIONS)
        assert found.result is not None
        assert found.result.success

    @pytest.mark.parametrize("file", [runs.RESULT, resuming.CONDITIONS])
    def test_whose_record_is_cut_off_starts_over_and_names_it(
        self, tmp_path: Path, file: str
    ) -> None:
        folder = record(tmp_path / "one", make_result())
        text = (folder / file).read_text()
        (folder / file).write_text(text[: len(text) // 2])
        found = resuming.resume_trial(tmp_path / "one", NODEID, CONDITIONS)
        assert found.result is None
        assert found.note.startswith(f"starts over: {folder / file} cannot be read")


def test_finished_trials_are_taken_over_and_others_start_over(
    walkers: Project, plugin_args: tuple[str, ...]
) -> None:
    walkers.task("second")
    walkers.run(*plugin_args, "tasks", "--mlab-agent=agents:die_second")
    first = walkers.sessions[-1]
    before = {path: path.read_bytes() for path in first.rglob("*.json*")}
    run = walkers.run(
        *plugin_args,
        "tasks",
        "--mlab-agent=agents:die_second",
        "--mlab-resume",
        "--junitxml=junit.xml",
    )
    run.assert_outcomes(passed=2)
    text = run.stdout.str()
    assert f"mlab: resumes {first}" in text
    assert "1 trial: taken over" in text
    assert "1 trial: starts over: it was interrupted" in text
    results = {result.task: result for result in walkers.results().values()}
    assert results["cut"].resumed == first.name
    assert Path(results["cut"].folder).parent == first
    assert results["second"].resumed == ""
    assert walkers.document()["summary"]["total"]["trials"] == 2
    _, cases = read_junit(walkers.path / "junit.xml")
    assert sum("mlab.resumed" in properties(case) for case in cases.values()) == 1
    assert before == {path: path.read_bytes() for path in before}


def test_what_failed_stays_failed(walkers: Project) -> None:
    arguments = (*NO_XDIST, "tasks", "--mlab-agent=agents:fall_short")
    walkers.run(*arguments).assert_outcomes(failed=1)
    run = walkers.run(*arguments, "--mlab-resume")
    run.assert_outcomes(failed=1)
    assert "resumed from" in run.stdout.str()
    # and through a second resumption, from where it ran
    walkers.run(*arguments, "--mlab-resume").assert_outcomes(failed=1)
    (result,) = walkers.results().values()
    assert (result.status, result.resumed) == ("below-threshold", walkers.sessions[0].name)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--mlab-threshold=0.5", "threshold was 0.1, is 0.5"),
        ("--mlab-max-steps=7", "steps was 30, is 7"),
        ("--mlab-seed=3", "seed was "),
    ],
)
def test_another_option_makes_it_another_trial(walkers: Project, option: str, said: str) -> None:
    arguments = (*NO_XDIST, "tasks", "--mlab-agent=agents:fall_short")
    walkers.run(*arguments)
    run = walkers.run(*arguments, option, "--mlab-resume")
    assert f"1 trial: starts anew: {said}" in run.stdout.str()
    (result,) = walkers.results().values()
    assert result.resumed == ""


def test_a_changed_task_or_agent_makes_it_another_trial(walkers: Project) -> None:
    arguments = (*NO_XDIST, "tasks", "--mlab-agent=agents:Tuner")
    walkers.run(*arguments).assert_outcomes(passed=1)
    agents = (walkers.path / "agents.py").read_text()
    walkers.write("agents.py", agents.replace("cut: int = 2", "cut: int = 3"))
    run = walkers.run(*arguments, "--mlab-resume")
    assert "starts anew: agent was agents:Tuner(cut=2), is agents:Tuner(cut=3)" in run.stdout.str()
    walkers.write("tasks/cut/instruction.md", "Something else.\n")
    run = walkers.run(*arguments, "--mlab-resume")
    assert "starts anew: task was " in run.stdout.str()


def test_a_test_of_the_users_own_judges_the_recorded_trial(walkers: Project) -> None:
    walkers.write(
        "test_own.py",
        "import pytest\n\n"
        '@pytest.mark.mlab_task("cut")\n'
        "def test_own(mlab_run, mlab_environment, mlab_workspace):\n"
        "    result = mlab_run()\n"
        "    assert result.success\n"
        "    assert len(mlab_environment.steps) == result.steps == 4\n"
        '    assert "CUT = 4" in (mlab_workspace.root / "train.py").read_text()\n',
    )
    arguments = (*NO_XDIST, "test_own.py", "--mlab-tasks=tasks", "--mlab-agent=agents:solve")
    walkers.run(*arguments).assert_outcomes(passed=1)
    run = walkers.run(*arguments, "--mlab-resume")
    run.assert_outcomes(passed=1)
    assert "1 trial: taken over" in run.stdout.str()


class TestByStep:
    def test_a_trial_goes_on_after_its_last_whole_step(
        self, walkers: Project, plugin_args: tuple[str, ...]
    ) -> None:
        arguments = (*plugin_args, "tasks", "--mlab-agent=agents:Walker")
        walkers.run(*arguments)
        run = walkers.run(*arguments, "--mlab-resume=step")
        run.assert_outcomes(passed=1)
        assert "1 trial: goes on after step 4: it was interrupted" in run.stdout.str()
        (result,) = walkers.results().values()
        assert (result.steps, result.resumed) == (10, "")
        folder = Path(result.folder)
        assert sorted(path.name for path in (folder / "workspace").glob("?.txt")) == [
            f"{number}.txt" for number in range(6)
        ]
        events = [event["event"] for event in read_trace(folder / runs.TRACE)]
        assert events == ["start", *["step"] * 4, "resume", *["step"] * 6, "end"]
        seconds = [event["seconds"] for event in read_trace(folder / runs.TRACE)]
        assert seconds == sorted(seconds)
        subjects = [commit.message.split()[1] for commit in read_history(folder / runs.HISTORY)]
        assert subjects == ["the", *(f"{number}:" for number in range(1, 11)), "submitted"]

    def test_an_agent_that_keeps_its_state_to_itself_starts_over(self, walkers: Project) -> None:
        arguments = (*NO_XDIST, "tasks", "--mlab-agent=agents:Forgetful")
        walkers.run(*arguments)
        run = walkers.run(*arguments, "--mlab-resume=step")
        run.assert_outcomes(passed=1)
        assert "starts over: it was interrupted; Forgetful cannot go on from a step" in (
            run.stdout.str()
        )

    def test_where_a_history_is_damaged_the_trial_starts_over(self, walkers: Project) -> None:
        arguments = (*NO_XDIST, "tasks", "--mlab-agent=agents:Once")
        walkers.run(*arguments)
        (history,) = walkers.sessions[-1].glob("*/history.git")
        shutil.rmtree(history / "objects")
        run = walkers.run(*arguments, "--mlab-resume=step")
        assert "it cannot go on: " in run.stdout.str()
        assert "history.git is damaged" in run.stdout.str()

    def test_a_cut_off_line_of_the_trace_is_passed_over(self, walkers: Project) -> None:
        arguments = (*NO_XDIST, "tasks", "--mlab-agent=agents:Walker")
        walkers.run(*arguments)
        (trace,) = walkers.sessions[-1].glob("*/trace.jsonl")
        content = trace.read_bytes()
        trace.write_bytes(content[:-20])
        run = walkers.run(*arguments, "--mlab-resume=step")
        assert "goes on after step 3" in run.stdout.str()
        run.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "ways", [NO_XDIST, pytest.param(("-n2",), marks=pytest.mark.skipif(not has_xdist(), reason=""))]
)
@pytest.mark.parametrize("whom", ["session", "controller"])
def test_killed_in_mid_step_nothing_whole_is_lost(
    walkers: Project, ways: tuple[str, ...], whom: str
) -> None:
    """A real SIGKILL: of all processes of the session, or of pytest's first one alone."""
    arguments = [
        *("-p", "no:hypothesispytest", "-p", "no:anyio"),
        *(*ways, "tasks", "--mlab-agent=agents:Waiting"),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=walkers.path,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as session:
        assert wait_until(lambda: _steps(walkers) >= 4, 60)
        held = walkers.refuse(*ways, "tasks", "--mlab-agent=agents:Waiting", "--mlab-resume")
        assert "is in use: that session still runs" in held
        if whom == "session":
            os.killpg(session.pid, signal.SIGKILL)
        else:
            os.kill(session.pid, signal.SIGKILL)
        session.wait()
    assert wait_until(lambda: not _is_held(walkers.sessions[-1]), 30)
    assert not is_alive(session.pid)
    (trial,) = (file.parent for file in walkers.sessions[-1].glob(f"*/{runs.IDENTITY}"))
    assert len(read_history(trial / runs.HISTORY)) >= 5
    if whom == "session":  # nobody was left to take them away; they are in nobody's way
        assert [path.name for path in (trial / decoys.FOLDER).iterdir()] == [decoys.LABELS]
    run = walkers.run(*ways, "tasks", "--mlab-agent=agents:Waiting", "--mlab-resume=step")
    run.assert_outcomes(passed=1)
    assert "goes on after step 4" in run.stdout.str()


def _steps(project: Project) -> int:
    traces = list(project.path.glob(".mlab/*/*/trace.jsonl"))
    return sum(event["event"] == "step" for trace in traces for event in read_trace(trace))


def _is_held(session: Path) -> bool:
    held = resuming.hold(session, alone=True)
    if held is None:
        return True
    os.close(held)
    return False


class TestRefusals:
    def test_there_is_no_session(self, walkers: Project) -> None:
        said = walkers.refuse(*NO_XDIST, "tasks", "--mlab-resume")
        assert said.startswith("--mlab-resume: there is no session in ")

    def test_a_path_is_taken_for_the_way(self, walkers: Project) -> None:
        said = walkers.refuse(*NO_XDIST, "--mlab-resume", "tasks")
        assert said == (
            '--mlab-resume: "tasks" is neither trial nor step; before other arguments, write '
            "--mlab-resume=trial"
        )

    def test_nothing_can_be_written_to_the_results_folder(self, walkers: Project) -> None:
        walkers.write("records", "a file")
        said = walkers.refuse(*NO_XDIST, "tasks", "--mlab-results=records/here")
        assert said.startswith("--mlab-results: no records can be written to ")

    def test_a_read_only_results_folder(self, walkers: Project) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may write everywhere")
        (walkers.path / "records").mkdir(mode=0o500)
        said = walkers.refuse(*NO_XDIST, "tasks", "--mlab-results=records")
        assert said.startswith("--mlab-results: no records can be written to ")


def test_a_named_session_is_resumed_and_the_new_one_lies_beside_it(walkers: Project) -> None:
    arguments = (*NO_XDIST, "tasks", "--mlab-agent=agents:solve")
    walkers.run(*arguments)
    walkers.run(*arguments)
    first, second = walkers.sessions
    run = walkers.run(*arguments, f"--mlab-results=.mlab/{first.name}", "--mlab-resume")
    assert f"mlab: resumes {first}" in run.stdout.str()
    assert walkers.sessions[-1].parent == second.parent
    assert len(walkers.sessions) == 3


def test_a_task_edited_during_the_session_is_an_error_of_its_later_trials(
    walkers: Project,
) -> None:
    walkers.write(
        "agents.py",
        (walkers.path / "agents.py").read_text() + "\n\ndef edit(environment):\n"
        '    with open("tasks/cut/instruction.md", "a") as file:\n'
        '        file.write("More.")\n'
        "    solve(environment)\n",
    )
    run = walkers.run(*NO_XDIST, "tasks", "--mlab-agent=agents:edit", "--mlab-trials=2")
    run.assert_outcomes(passed=1, errors=1)
    assert "was edited after this session began" in run.stdout.str()
