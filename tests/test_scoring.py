"""Scoring: a number, the agent's fault or the task author's, never mixed up."""

import math
import os
import socket
import stat
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import InfraError, InvalidSubmission, TaskError
from pytest_mlab.data import PreparedData, prepare_data
from pytest_mlab.exceptions import NoSubmission
from pytest_mlab.sandbox import Sandbox, View, find_sandbox
from pytest_mlab.scoring import Score, score_workspace
from tests.folders import load

RIGHT = "id,label\n" + "".join(f"{n},{int(n * 7 % 10 >= 4)}\n" for n in range(100))


@pytest.fixture(params=["none", "auto"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Unconfined, and in the strongest sandbox that works here."""
    return find_sandbox(request.param)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def score(folder: Path, sandbox: Sandbox | None = None, **changes: object) -> Score:
    """Score the workspace ``work`` on a task made with ``changes``."""
    task = load(folder, **changes)  # type: ignore[arg-type]  # folders.make_task says which
    return score_workspace(
        task, folder / "work", prepare_data(task), sandbox or find_sandbox("none")
    )


def score_by(folder: Path, body: str, sandbox: Sandbox | None = None, **changes: object) -> Score:
    """Score a submission by the body of a ``score`` function."""
    (folder / "work" / "submission.csv").write_text(RIGHT)
    scorer = "def score(submission, private):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return score(folder, sandbox, files={"score.py": scorer}, **changes)


def test_a_submission_gets_its_score_and_the_stated_baseline(
    tmp_path: Path, workspace: Path, sandbox: Sandbox
) -> None:
    (workspace / "submission.csv").write_text(RIGHT)
    assert score(tmp_path, sandbox) == Score(1.0, baseline=0.7)
    (workspace / "submission.csv").write_text(RIGHT.replace("\n0,0", "\n0,1"))
    assert score(tmp_path, sandbox) == Score(0.99, baseline=0.7)


def test_a_submission_whose_code_kills_the_scorer_is_invalid(
    tmp_path: Path, workspace: Path, sandbox: Sandbox
) -> None:
    """Where the scorer has to run the submission, to measure it, that is no fault of the scorer."""
    attack = """
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import os; os.kill(os.getppid(), 9)"])
        return 2, 3.5
    """
    with pytest.raises(InvalidSubmission, match="was killed while it ran the submission"):
        score_by(tmp_path, attack, sandbox, baseline={"measured": True})


def test_a_measured_baseline_comes_from_the_scorer(tmp_path: Path, workspace: Path) -> None:
    changes: dict[str, Any] = {"baseline": {"measured": True}, "metric": {"bound": None}}
    assert score_by(tmp_path, "return 2, 3.5", **changes) == Score(2.0, 3.5)


@pytest.mark.parametrize("value", ["0.5", "1", "__import__('numpy').float32(0.5)"])
def test_whatever_number_it_is(tmp_path: Path, workspace: Path, value: str) -> None:
    assert score_by(tmp_path, f"return {value}") == Score(float(eval(value)), 0.7)


class TestSubmissionsThatCannotBeScored:
    """The agent's fault: each is told in one message."""

    def test_none(self, tmp_path: Path, workspace: Path) -> None:
        with pytest.raises(NoSubmission, match=r"there is no submission\.csv in the workspace"):
            score(tmp_path)

    def test_a_missing_folder(self, tmp_path: Path, workspace: Path) -> None:
        with pytest.raises(NoSubmission, match="there is no out/a"):
            score(tmp_path, submission={"file": "out/a.csv"})

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            ("", "is empty or its first line is; start it with the header id,label"),
            ("\n\n", "is empty or its first line is"),
            ("id\n1\n", 'column "label" is missing'),
            ("id,label\n1,1\n", "has 1 rows, but 100 are asked for"),
            (RIGHT + "0,1\n", 'id "0" is there twice'),
            (RIGHT + "100,1\n", 'id "100" is none of the 100 that are asked for'),
            (RIGHT.replace("\n5,", "\n5,nan"), 'label of id 5 is "nan1"'),
            (RIGHT.replace("\n5,1", "\n5,inf"), 'label of id 5 is "inf"'),
            (RIGHT.replace("\n5,1", "\n5,100"), 'label of id 5 is "100"'),
        ],
    )
    def test_wrong_tables(
        self, tmp_path: Path, workspace: Path, content: str, problem: str
    ) -> None:
        (workspace / "submission.csv").write_text(content)
        with pytest.raises(InvalidSubmission) as error:
            score(tmp_path)
        assert str(error.value).startswith("submission.csv")
        assert problem in str(error.value)

    def test_what_is_not_utf8(self, tmp_path: Path, workspace: Path) -> None:
        (workspace / "submission.csv").write_bytes(b"id,label\n\xff,1\n")
        with pytest.raises(InvalidSubmission, match="is not UTF-8 text"):
            score(tmp_path)

    def test_a_symbolic_link(self, tmp_path: Path, workspace: Path) -> None:
        (tmp_path / "labels.csv").write_text(RIGHT)
        for target in (tmp_path / "labels.csv", tmp_path / "nowhere"):
            (workspace / "submission.csv").unlink(missing_ok=True)
            (workspace / "submission.csv").symlink_to(target)
            with pytest.raises(InvalidSubmission, match="a symbolic link is not followed"):
                score(tmp_path)

    def test_a_file_behind_a_symbolic_link(self, tmp_path: Path, workspace: Path) -> None:
        (tmp_path / "private").mkdir()
        (tmp_path / "private" / "a.csv").write_text(RIGHT)
        (workspace / "out").symlink_to(tmp_path / "private")
        with pytest.raises(InvalidSubmission, match=r"out/a\.csv lies behind a symbolic link"):
            score(tmp_path, submission={"file": "out/a.csv"})

    def test_a_directory(self, tmp_path: Path, workspace: Path) -> None:
        (workspace / "submission.csv").mkdir()
        with pytest.raises(InvalidSubmission, match=r"submission\.csv is not a regular file"):
            score(tmp_path)

    @pytest.mark.timeout(10)
    def test_a_pipe(self, tmp_path: Path, workspace: Path) -> None:
        os.mkfifo(workspace / "submission.csv")
        with pytest.raises(InvalidSubmission, match=r"submission\.csv is not a regular file"):
            score(tmp_path)

    @pytest.mark.timeout(10)
    @pytest.mark.parametrize(("major", "minor"), [(1, 5), (1, 3)], ids=["zero", "null"])
    def test_a_device(self, tmp_path: Path, workspace: Path, major: int, minor: int) -> None:
        try:
            os.mknod(workspace / "submission.csv", 0o600 | stat.S_IFCHR, os.makedev(major, minor))
        except PermissionError:
            pytest.skip("only root makes devices")
        # where devices are closed to a file system, as in containers, it cannot even be opened
        with pytest.raises(
            InvalidSubmission, match=r"submission\.csv (is not|cannot be read as) a"
        ):
            score(tmp_path)

    def test_a_socket(
        self, tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(workspace)  # a socket's path is short
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("submission.csv")
            with pytest.raises(InvalidSubmission, match=r"cannot be read as a regular file"):
                score(tmp_path)

    @pytest.mark.timeout(10)
    def test_a_sparse_one_of_ten_gigabytes(self, tmp_path: Path, workspace: Path) -> None:
        (workspace / "submission.csv").touch()
        os.truncate(workspace / "submission.csv", 10_000_000_000)
        with pytest.raises(InvalidSubmission, match=r"has 10000\.0 MB; at most 1 MB are read"):
            score(tmp_path)

    @pytest.mark.timeout(60)
    @pytest.mark.parametrize(
        ("bomb", "problem"),
        [
            (b"id,label\n" + b"0," * 15_000_000, "has 15000001 fields"),
            (b"x," * 15_000_000, 'column "id" is missing'),
            (b"id,label\n" + b"\n" * 30_000_000 + b"5,1\n", "has 1 rows, but 100 are asked for"),
            (b"id,label\n" + b"0,1\n" * 7_000_000, "is there twice"),
            (b'id,label\n0,"' + b"1" * 30_000_000, "field larger than field limit"),
            (b'id,label\n0,"' + b"\n" * 30_000_000, "field larger than field limit"),
        ],
        ids=["wide row", "wide header", "empty lines", "rows", "open quote", "lines in a quote"],
    )
    def test_a_table_that_is_to_use_the_machine_up(
        self, tmp_path: Path, workspace: Path, sandbox: Sandbox, bomb: bytes, problem: str
    ) -> None:
        (workspace / "submission.csv").write_bytes(bomb)
        with pytest.raises(InvalidSubmission, match=problem):
            score(tmp_path, sandbox, submission={"max_mb": 64})

    def test_one_that_is_too_large(self, tmp_path: Path, workspace: Path) -> None:
        (workspace / "submission.csv").touch()
        os.truncate(workspace / "submission.csv", 100_000_000)
        with pytest.raises(InvalidSubmission, match=r"has 100\.0 MB; at most 1 MB are read"):
            score(tmp_path)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_one_that_may_not_be_read(self, tmp_path: Path, workspace: Path) -> None:
        (workspace / "submission.csv").touch(mode=0)
        with pytest.raises(InvalidSubmission, match="Permission denied"):
            score(tmp_path)

    def test_what_the_scorer_says(self, tmp_path: Path, workspace: Path) -> None:
        body = "from pytest_mlab import InvalidSubmission\nraise InvalidSubmission('row 3: é')"
        with pytest.raises(InvalidSubmission, match=r"^row 3: é$"):
            score_by(tmp_path, body)

    @pytest.mark.timeout(20)
    def test_a_message_without_end_is_cut(self, tmp_path: Path, workspace: Path) -> None:
        body = "from pytest_mlab import InvalidSubmission\nraise InvalidSubmission('😀' * 10**6)"
        with pytest.raises(InvalidSubmission, match=r"😀{4000}$"):
            score_by(tmp_path, body)


class TestScorersThatAreWrong:
    """The task author's fault: an error, never a failure of the agent."""

    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            ("raise RuntimeError('oops')", "score() raised\nTraceback"),
            ("open('none.csv')", "FileNotFoundError"),
            ("return", "score() returned None; it must return a finite number"),
            ("return float('nan')", "score() returned nan; it must return a finite number"),
            ("return float('inf')", "score() returned inf; it must return a finite number"),
            ("return '0.5'", "score() returned '0.5'; it must return a finite number"),
            ("return True", "score() returned True; it must return a finite number"),
            ("return [0.5]", "score() returned [0.5]; it must return a finite number"),
            ("return (0.5,)", "score() returned (0.5,); it must return a finite number"),
            ("return 0.5, 0.7", "score() returned [0.5, 0.7]; it must return a finite number"),
            ("return 10 ** 400", "it must return a finite number"),
            ("return 1j", "score() returned 1j; it must return a finite number"),
            ("import numpy; return numpy.ones(3)", "it must return a finite number"),
            ("return tuple(range(10**6))", "it must return a finite number"),
            ("import sys; sys.exit(0)", "the scoring process gave no score (exit code 0)"),
            ("import os; os._exit(3)", "the scoring process gave no score (exit code 3)"),
            ("import os; os.abort()", "the scoring process gave no score (killed by SIGABRT)"),
            ("raise KeyboardInterrupt", "the scoring process gave no score"),
            ("import os\nfrom no_such_module import x", "ModuleNotFoundError"),
        ],
    )
    def test_are_named_with_what_they_did(
        self, tmp_path: Path, workspace: Path, body: str, problem: str
    ) -> None:
        with pytest.raises(TaskError) as error:
            score_by(tmp_path, body)
        assert str(error.value).startswith(f"{tmp_path / 'threshold' / 'score.py'}: ")
        assert problem in str(error.value)
        assert len(str(error.value)) < 10_000

    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            ("return 0.5", "returned 0.5; it must return a pair of finite numbers"),
            ("return 0.5, True", "it must return a pair of finite numbers, (score, baseline)"),
            ("return 0.5, float('nan')", "it must return a pair of finite numbers"),
            ("return 1, 2, 3", "returned (1, 2, 3); it must return a pair of finite numbers"),
            ("return 0.5, 0", "score() measured a baseline of 0"),
        ],
    )
    def test_where_the_baseline_is_measured(
        self, tmp_path: Path, workspace: Path, body: str, problem: str
    ) -> None:
        with pytest.raises(TaskError) as error:
            score_by(tmp_path, body, baseline={"measured": True})
        assert problem in str(error.value)

    @pytest.mark.parametrize("source", ["def score(\n", "x = 1\n", "import no_such_module\n"])
    def test_where_there_is_no_such_function(
        self, tmp_path: Path, workspace: Path, source: str
    ) -> None:
        (workspace / "submission.csv").write_text(RIGHT)
        with pytest.raises(TaskError, match=r"score\.py: score\(\) raised"):
            score(tmp_path, files={"score.py": source})

    def test_one_that_never_returns_is_ended(
        self, tmp_path: Path, workspace: Path, sandbox: Sandbox
    ) -> None:
        begun = time.monotonic()
        with pytest.raises(TaskError, match=r"within \[limits\] scoring_seconds = 0\.5"):
            score_by(tmp_path, "while True: pass", sandbox, limits={"scoring_seconds": 0.5})
        assert time.monotonic() - begun < 5

    def test_a_fault_it_tells_itself_is_told_as_it_is(
        self, tmp_path: Path, workspace: Path
    ) -> None:
        body = "from pytest_mlab import TaskError\nraise TaskError('labels.csv: has no rows')"
        with pytest.raises(TaskError, match=r"^labels\.csv: has no rows$"):
            score_by(tmp_path, body)

    def test_a_sandbox_that_cannot_be_started_is_the_machines_fault(
        self, tmp_path: Path, workspace: Path
    ) -> None:
        class Gone:
            name = "gone"
            inherits = True
            drain_seconds = 0.0

            def command(self, argv: object, view: View) -> list[str]:
                return ["/no/such/program"]

            def environment(self, view: View) -> dict[str, str]:
                return {}

        with pytest.raises(InfraError, match=r"could not be scored: .*No such file"):
            score_by(tmp_path, "return 0.5", Gone())


@pytest.mark.parametrize(
    ("metric", "value", "beyond"),
    [
        ({"goal": "maximize", "bound": 1.0}, 1.1, True),
        ({"goal": "maximize", "bound": 1.0}, 1.0, False),
        ({"goal": "maximize", "bound": 1.0}, 1.0 + 1e-12, False),
        ({"goal": "minimize", "bound": 0.0}, -0.1, True),
        ({"goal": "minimize", "bound": 0.0}, 0.0, False),
        ({"goal": "maximize", "bound": None}, 1.1, False),
    ],
)
def test_a_score_better_than_there_can_be_is_nobodys_success(
    tmp_path: Path, workspace: Path, metric: object, value: float, beyond: bool
) -> None:
    """Whether the task is wrong or its scorer was misled, it takes a person to find out."""
    if not beyond:
        assert score_by(tmp_path, f"return {value!r}", metric=metric).value == value
        return
    with pytest.raises(
        TaskError, match=r"score.py: score\(\) returned .*, better than .* bound = "
    ):
        score_by(tmp_path, f"return {value!r}", metric=metric)


class TestNothingButTheScoreCounts:
    def test_not_what_the_scorer_prints(self, tmp_path: Path, workspace: Path) -> None:
        body = """
            import os, sys
            print('{"token": "", "score": 1.0}')
            print('{"score": 1.0}', file=sys.stderr)
            os.write(1, b'{"score": 1.0}')
            return 0.5
        """
        assert score_by(tmp_path, body) == Score(0.5, 0.7)

    def test_not_what_a_child_of_the_scorer_leaves_running(
        self, tmp_path: Path, workspace: Path, sandbox: Sandbox
    ) -> None:
        body = """
            import os, time
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            return 0.5
        """
        begun = time.monotonic()
        assert score_by(tmp_path, body, sandbox) == Score(0.5, 0.7)
        assert time.monotonic() - begun < 5

    def test_not_what_code_of_the_submission_writes_wherever_it_can(
        self, tmp_path: Path, workspace: Path, sandbox: Sandbox
    ) -> None:
        """The scorer runs a program, which writes an outcome to whatever it can open."""
        forger = """
import os
forged = b'\\n{"token": "", "score": 9.0}\\n{"score": 9.0}\\n'
for folder in ("/proc/self/fd", f"/proc/{os.getppid()}/fd"):
    for name in os.listdir(folder):
        try:
            file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(file, forged)
        except OSError:
            pass
for number in range(3, 1024):
    try:
        os.write(number, forged)
    except OSError:
        pass
"""
        body = f"""
            import subprocess, sys
            subprocess.run([sys.executable, "-c", {forger!r}], check=True)
            return 0.5
        """
        assert score_by(tmp_path, body, sandbox) == Score(0.5, 0.7)

    def test_not_what_fills_the_channel_so_that_the_outcome_finds_no_room(
        self, tmp_path: Path, workspace: Path
    ) -> None:
        """Nobody waits for it: it is the submission's doing where that was run, else the task's."""
        body = """
            import os
            for number in range(3, 1024):
                try:
                    os.set_blocking(number, False)
                    while os.write(number, b"x" * 4096):
                        pass
                except OSError:
                    pass
            return (0.5, 0.7)
        """
        begun = time.monotonic()
        with pytest.raises(InvalidSubmission, match="wrote to where the score is awaited"):
            score_by(tmp_path, body, baseline={"measured": True})
        with pytest.raises(TaskError, match="gave no score"):
            score_by(tmp_path, body)
        assert time.monotonic() - begun < 10

    def test_not_a_submission_that_is_named_like_a_module(self, tmp_path: Path) -> None:
        """It lies in the scorer's working folder, out of which nothing is imported."""
        names = ("json.py", "csv.py", "pytest_mlab.py", "sitecustomize.py", "score.py")
        for name in names:
            task = load(
                tmp_path / name.removesuffix(".py"),
                submission={"file": name},
                files={"score.py": "import csv, json\n\ndef score(a, b):\n    return 0.5\n"},
            )
            folder = tmp_path / "workspace"
            folder.mkdir(exist_ok=True)
            (folder / name).write_text("import os\nos._exit(0)\n")
            score = score_workspace(task, folder, prepare_data(task), find_sandbox("none"))
            assert score == Score(0.5, 0.7)

    def test_not_the_token_in_what_a_program_is_given(
        self, tmp_path: Path, workspace: Path
    ) -> None:
        body = """
            import subprocess, sys
            code = "import os, sys; print(sys.argv, dict(os.environ), sys.stdin.read())"
            run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            tokens, frame = [], sys._getframe()
            while frame is not None:
                tokens += [v for v in frame.f_locals.values() if isinstance(v, str)]
                frame = frame.f_back
            token = max((t for t in tokens if len(t) == 64 and t.isalnum()), key=len)
            assert token not in run.stdout
            return 0.5
        """
        assert score_by(tmp_path, body) == Score(0.5, 0.7)


class TestConfinement:
    def test_the_submission_is_a_copy_and_the_workspace_is_not_there(
        self, tmp_path: Path, workspace: Path
    ) -> None:
        if (sandbox := find_sandbox("auto")).name == "none":
            pytest.skip("no sandbox works here")
        (workspace / "helper.py").touch()
        body = f"""
            import os
            assert submission.name == "submission.csv"
            assert not os.path.exists({str(workspace)!r})
            return float(os.path.exists(private / "labels.csv"))
        """
        assert score_by(tmp_path, body, sandbox) == Score(1.0, 0.7)

    def test_no_key_of_ours_is_in_its_environment(
        self, tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        body = "import os; return float('OPENAI_API_KEY' in os.environ)"
        assert score_by(tmp_path, body) == Score(0.0, 0.7)

    def test_what_it_may_not_change_stays_as_it_is(
        self, tmp_path: Path, workspace: Path, sandbox: Sandbox
    ) -> None:
        task = load(tmp_path)
        data: PreparedData = prepare_data(task)
        (workspace / "submission.csv").write_text(RIGHT)
        before = (data.private / "labels.csv").stat()
        value = score_workspace(task, workspace, data, sandbox).value
        assert math.isclose(value, 1.0)
        assert (data.private / "labels.csv").stat().st_mtime_ns == before.st_mtime_ns


def test_scratch_files_are_gone_afterwards(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    score_by(tmp_path, "open('left.txt', 'w').write('x'); return 0.5")
    assert not list((tmp_path / "tmp").iterdir())
