"""What a trial had to leave alone is looked at again, and a submission has to be its own."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import InfraError, TaskError
from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents.baseline import BaselineAgent
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.exceptions import NoSubmission
from pytest_mlab.integrity import check_written, find_tampering, originals, seal_workspace
from pytest_mlab.results import Result
from pytest_mlab.trial import run_trial
from pytest_mlab.world import Setup, open_environment
from tests.folders import STARTER, load
from tests.sandbox.conftest import CONTAINER, SECRET, get_sandbox
from tests.worlds import make_setup

NOTES = "what the columns mean"
MARKED: dict[str, Any] = {
    "read_only": ["notes.txt", "ref"],
    "files": {"workspace/notes.txt": NOTES, "workspace/ref/table.csv": "1,2\n"},
}
WRONG = "id,label\n" + "".join(f"{n},0\n" for n in range(100))

ATTACKS = {
    "writing": "open('notes.txt', 'a').write('!')",
    "removing": "os.remove('notes.txt')",
    "replacing": "open('new', 'w').close(); os.replace('new', 'notes.txt')",
    "another spelling": "open('./ref/../notes.txt', 'w').close()",
    "a file in a folder": "open('ref/table.csv', 'w').close()",
    "a link": "os.symlink('notes.txt', 'link'); open('link', 'w').close()",
    "a hard link": "os.link('notes.txt', 'link'); open('link', 'a').write('!')",
    "a hole": "os.truncate('notes.txt', 10 * 2**30)",
}


class Agent:
    """An agent that is a function."""

    def __init__(self, run: Callable[[Environment], object]) -> None:
        self.run = run


def run_code(*pieces: str) -> Agent:
    """Give an agent that runs scripts, one after the other, and hands a submission in."""

    def run(environment: Environment) -> None:
        for code in pieces:
            script = f"import os, shutil\n{code}\n"
            environment.act("Write File", file_name="attack.py", content=script)
            environment.act("Execute Script", script_name="attack.py")
        environment.act("Write File", file_name="submission.csv", content=WRONG)
        environment.act("Final Answer", final_answer="done")

    return Agent(run)


def try_it(folder: Path, agent: Any, kind: str = "none", **changes: Any) -> Result:
    """Let an agent take its turn at a task made with ``changes``."""
    setup = make_setup(folder / "trial", load(folder, **changes), sandbox=get_sandbox(kind))
    return try_setup(setup, agent)


def try_setup(setup: Setup, agent: Any) -> Result:
    with open_environment(setup, ACTIONS) as environment:
        return run_trial(setup, agent, environment)


class TestReadOnlyFiles:
    @pytest.mark.parametrize("code", ATTACKS.values(), ids=ATTACKS)
    @pytest.mark.parametrize(
        ("kind", "status"),
        [
            ("none", "tampered"),
            ("landlock", "tampered"),
            ("bwrap", "below-threshold"),
            pytest.param(*CONTAINER.values, "below-threshold", marks=CONTAINER.marks),
        ],
    )
    def test_cannot_be_changed_by_a_script_or_it_is_found_afterwards(
        self, tmp_path: Path, code: str, kind: str, status: str
    ) -> None:
        result = try_it(tmp_path, run_code(code), kind, **MARKED)
        assert result.status == status, result.summary()
        if status == "tampered":
            assert result.detail.startswith("the read-only file ")
            assert (result.score, result.success) == (None, False)

    @pytest.mark.parametrize("kind", ["none", "bwrap", "landlock", CONTAINER])
    def test_left_alone_count_for_nothing(self, tmp_path: Path, kind: str) -> None:
        code = "open('notes.txt').read(); shutil.copytree('ref', 'mine'); open('mine/x', 'w')"
        result = try_it(tmp_path, run_code(code), kind, **MARKED)
        assert (result.status, result.detail) == ("below-threshold", "")

    def test_what_was_changed_is_said(self, tmp_path: Path) -> None:
        code = "os.remove('notes.txt'); open('ref/table.csv', 'a').write('3,4')"
        result = try_it(tmp_path, run_code(code), **MARKED)
        assert result.detail == (
            "the read-only file notes.txt was removed; the read-only file ref/table.csv was changed"
        )

    @pytest.mark.parametrize(
        "code",
        [
            "os.rename('deep', 'aside'); os.mkdir('deep'); open('deep/table.csv', 'w').close()",
            "os.rename('deep', 'aside'); os.symlink('aside', 'deep')",
            "os.rename('deep', 'aside'); os.mkdir('deep'); os.mkfifo('deep/table.csv')",
            "os.rename('deep', 'aside'); os.makedirs('deep/table.csv')",
        ],
    )
    @pytest.mark.parametrize("kind", ["none", "bwrap", CONTAINER])
    def test_are_missed_where_the_folder_around_them_was_swapped(
        self, tmp_path: Path, code: str, kind: str
    ) -> None:
        """No mount keeps a folder from being renamed together with what is mounted in it."""
        files = {"workspace/deep/table.csv": "1,2\n"}
        result = try_it(tmp_path, run_code(code), kind, read_only=["deep/table.csv"], files=files)
        assert result.status == "tampered", result.summary()

    @pytest.mark.parametrize("kind", ["bwrap", CONTAINER])
    def test_a_link_in_their_place_leads_nowhere_outside(self, tmp_path: Path, kind: str) -> None:
        """The next command must not be shown what the link names with the harness's own eyes."""
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "table.csv").write_text(SECRET)
        seen: list[str] = []

        def run(environment: Environment) -> None:
            for code in (
                f"import os; os.rename('deep', 'aside'); os.symlink({str(outside)!r}, 'deep')",
                "print(open('deep/table.csv').read())",
            ):
                environment.act("Write File", file_name="attack.py", content=code)
                seen.append(environment.act("Execute Script", script_name="attack.py").text)

        files = {"workspace/deep/table.csv": "1,2\n"}
        marked = {"read_only": ["deep/table.csv"], "files": files}
        assert try_it(tmp_path, Agent(run), kind, **marked).status == "tampered"
        assert SECRET not in seen[1]

    def test_a_crash_afterwards_hides_nothing(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            run_code_in(environment, "open('notes.txt', 'w').close()")
            raise ValueError("oops")

        result = try_it(tmp_path, Agent(run), **MARKED)
        assert (result.status, result.stop) == ("tampered", "crashed")
        assert result.detail == (
            "the read-only file notes.txt was changed; the agent raised ValueError: oops"
        )

    def test_what_is_marked_is_seen_as_the_tasks_own(self, tmp_path: Path) -> None:
        """The outermost folder that a name covers is one mount."""
        task = load(tmp_path, **MARKED)
        root = tmp_path / "workspace"
        assert originals(task, root) == {
            root / "notes.txt": task.workspace / "notes.txt",
            root / "ref": task.workspace / "ref",
        }


def run_code_in(environment: Environment, code: str) -> None:
    environment.act("Write File", file_name="attack.py", content=code)
    environment.act("Execute Script", script_name="attack.py")


class TestData:
    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let no other test find what an attack has done."""
        monkeypatch.setenv("MLAB_CACHE", str(tmp_path / "cache"))

    def test_public_ones_that_were_changed_are_tampering(self, tmp_path: Path) -> None:
        code = "os.chmod('data/train.csv', 0o644); open('data/train.csv', 'a').write('1,2,3')"
        result = try_it(tmp_path, run_code(code))
        assert result.status == "tampered"
        assert "the prepared data were changed: /" in result.detail
        assert result.detail.endswith("public/train.csv")

    @pytest.mark.parametrize("kind", ["bwrap", "landlock"])
    def test_cannot_be_changed_in_a_sandbox(self, tmp_path: Path, kind: str) -> None:
        code = "os.chmod('data/train.csv', 0o644); open('data/train.csv', 'a').write('1,2,3')"
        result = try_it(tmp_path, run_code(code), kind)
        assert (result.status, result.detail) == ("below-threshold", "")

    def test_other_times_alone_are_no_change(self, tmp_path: Path) -> None:
        result = try_it(tmp_path, run_code("os.utime('data/train.csv', (1, 1))"))
        assert result.status == "below-threshold"


class TestScorer:
    def test_one_that_was_edited_meanwhile_scores_nothing(self, tmp_path: Path) -> None:
        """Be it the author's doing or, without a sandbox, the agent's: an error, seen by all."""
        cheat = tmp_path / "threshold" / "score.py"
        code = f"open({str(cheat)!r}, 'w').write('def score(a, b):\\n    return 1.0\\n')"
        with pytest.raises(TaskError, match=r"score.py: was changed while the trial ran"):
            try_it(tmp_path, run_code(code))
        result = Result.from_json((tmp_path / "trial" / "result.json").read_text())
        assert (result.status, result.score) == ("harness-error", None)


class TestSubmission:
    def test_a_task_that_ships_one_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(TaskError) as error:
            load(tmp_path, files={"workspace/submission.csv": WRONG})
        stale = tmp_path / "threshold" / "workspace" / "submission.csv"
        assert str(error.value) == (
            f"{stale}: is left over from a run, and would be every agent's submission; delete it "
            "or, where agents are to edit it, say [submission] in_place = true"
        )

    def test_one_to_be_edited_in_place_has_to_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(TaskError, match=r"in_place is true, but there is no .*submission.csv"):
            load(tmp_path, submission={"in_place": True})

    def test_one_that_was_there_before_is_none(self, tmp_path: Path) -> None:
        """However it got there, such as by a fixture of a project's own."""
        setup = make_setup(tmp_path / "trial", load(tmp_path))
        (setup.workspace.root / "submission.csv").write_text(WRONG)
        setup.workspace.seal = seal_workspace(setup.task, setup.workspace.root)
        result = try_setup(setup, Agent(lambda environment: None))
        assert (result.status, result.score) == ("no-submission", None)
        assert result.detail == (
            "submission.csv is as it was before the agent's turn; a submission has to be written "
            "by the trial"
        )

    @pytest.mark.parametrize("code", ["os.utime('submission.csv')", "os.system('touch *')"])
    def test_touching_it_is_not_writing_it(self, tmp_path: Path, code: str) -> None:
        setup = make_setup(tmp_path / "trial", load(tmp_path))
        (setup.workspace.root / "submission.csv").write_text(WRONG)
        setup.workspace.seal = seal = seal_workspace(setup.task, setup.workspace.root)
        with open_environment(setup, ACTIONS) as environment:
            environment.start()
            run_code_in(environment, f"import os\n{code}")
        with pytest.raises(NoSubmission):
            check_written(setup.task, seal, setup.workspace.root)

    def test_one_edited_in_place_and_left_alone_scores_what_the_starter_does(
        self, tmp_path: Path
    ) -> None:
        """Doing nothing is no improvement, and no mistake either."""
        changes: dict[str, Any] = {
            "submission": {"file": "train.py", "in_place": True},
            "files": {"score.py": "def score(file, private):\n    return file.stat().st_size\n"},
            "metric": {"bound": None},
            "baseline": {"score": len(STARTER.encode())},
        }
        untouched = try_it(tmp_path / "a", BaselineAgent(), **changes)
        assert (untouched.status, untouched.improvement) == ("below-threshold", 0)

        def lengthen(environment: Environment) -> None:
            text = STARTER + "#" * len(STARTER)
            environment.act("Write File", file_name="train.py", content=text)

        assert try_it(tmp_path / "b", Agent(lengthen), **changes).status == "success"


class TestFinalScore:
    """It is of the workspace as the turn has left it, however it ended."""

    @staticmethod
    def improve_then_spoil(environment: Environment) -> None:
        right = "id,label\n" + "".join(f"{n},{int(n * 7 % 10 >= 4)}\n" for n in range(100))
        for content in (right, WRONG):
            environment.act("Write File", file_name="submission.csv", content=content)

    @pytest.mark.parametrize(
        ("limits", "stop"), [(Limits(60, 2), "steps"), (Limits(1.0, 30), "time")]
    )
    def test_after_a_limit(self, tmp_path: Path, limits: Limits, stop: str) -> None:
        def run(environment: Environment) -> None:
            self.improve_then_spoil(environment)
            environment.act("Python REPL", command="import time; time.sleep(60)")
            environment.act("List Files", dir_path=".")

        setup = make_setup(tmp_path / "trial", load(tmp_path), limits)
        result = try_setup(setup, Agent(run))
        assert (result.stop, result.score) == (stop, 0.4)

    def test_after_a_crash(self, tmp_path: Path) -> None:
        def run(environment: Environment) -> None:
            self.improve_then_spoil(environment)
            raise ValueError

        assert try_it(tmp_path, Agent(run)).score == 0.4

    def test_after_a_script_that_was_killed_at_the_end_of_the_time(self, tmp_path: Path) -> None:
        """What it had written by then counts."""

        def run(environment: Environment) -> None:
            self.improve_then_spoil(environment)
            code = f"import time\nopen('submission.csv', 'w').write({WRONG[:-2]!r} + '1\\n')\n"
            environment.act("Write File", file_name="last.py", content=f"{code}time.sleep(60)")
            environment.act("Execute Script", script_name="last.py")

        setup = make_setup(tmp_path / "trial", load(tmp_path), Limits(2.0, 30))
        result = try_setup(setup, Agent(run))
        assert (result.stop, result.score) == ("time", 0.39)


def test_output_that_cannot_be_kept_is_the_machines_fault(tmp_path: Path) -> None:
    """So is a disk that is full: whoever acts has nothing to do with it."""
    setup = make_setup(tmp_path / "trial", load(tmp_path))
    (setup.folder / "outputs").write_text("in the way")
    with pytest.raises(InfraError, match=r"train.py could not be run, or its output kept: "):
        try_setup(setup, BaselineAgent())
    result = Result.from_json((setup.folder / "result.json").read_text())
    assert result.status == "infra-error"


def test_an_agent_that_swallows_it_is_not_blamed_either(tmp_path: Path) -> None:
    setup = make_setup(tmp_path / "trial", load(tmp_path))
    (setup.folder / "outputs").write_text("in the way")

    def run(environment: Environment) -> None:
        with suppress(Exception):
            environment.act("Execute Script", script_name="train.py")

    with pytest.raises(InfraError, match="could not be run"):
        try_setup(setup, Agent(run))


def test_a_fresh_workspace_is_as_it_was_sealed(tmp_path: Path) -> None:
    setup = make_setup(tmp_path / "trial", load(tmp_path, **MARKED))
    assert setup.workspace.seal is not None
    assert find_tampering(setup.workspace.seal, setup.workspace.root, setup.data) == []
    assert set(setup.workspace.seal.read_only) == {"notes.txt", "ref/table.csv"}
