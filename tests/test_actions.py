"""Each action: what it does, what it says when it cannot, and how it is bounded."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab import ActionError
from pytest_mlab.actions import ACTIONS, Action, Argument, describe_syntax
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.steps import Observation
from tests.folders import STARTER
from tests.processes import is_alive, wait_until
from tests.worlds import open_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Environment]:
    with open_world(tmp_path, Limits(seconds=30, steps=1000)) as environment:
        yield environment


@pytest.fixture
def root(tmp_path: Path, world: Environment) -> Path:
    """The workspace as it lies on the disk."""
    return tmp_path / "trial" / "workspace"


def done(observation: Observation) -> str:
    """Give the text of what could be done."""
    assert observation.ok, observation.text
    return observation.text


def refused(observation: Observation) -> str:
    """Give the text of what could not be done."""
    assert not observation.ok, observation.text
    return observation.text


def execute(world: Environment, source: str, name: str = "run.py") -> Observation:
    """Write a script and run it."""
    done(world.act("Write File", file_name=name, content=source))
    return world.act("Execute Script", script_name=name)


class TestCalling:
    """Wrong arguments come back as observations that say how it is done right."""

    @pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
    def test_every_action_says_what_it_needs(self, world: Environment, action: Action) -> None:
        text = refused(world.act(action.name))
        assert f"{action.name} misses {', '.join(a.name for a in action.arguments)}" in text
        assert action.usage() in text

    @pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
    def test_every_action_refuses_what_it_does_not_know(
        self, world: Environment, action: Action
    ) -> None:
        given = {argument.name: "1" for argument in action.arguments}
        assert f"{action.name} has no colour; its arguments are {{" in refused(
            world.act(action.name, **given, colour="red")
        )

    @pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
    @pytest.mark.parametrize("value", [None, 1.5, True, ["a"], {"a": 1}], ids=repr)
    def test_every_action_refuses_values_of_another_type(
        self, world: Environment, action: Action, value: object
    ) -> None:
        given = {argument.name: value for argument in action.arguments}
        first = action.arguments[0].name
        assert f"{action.name}: {first} is {value!r}, not text; " in refused(
            world.act(action.name, **given)
        )

    def test_a_number_may_be_given_as_text(self, world: Environment) -> None:
        shown = world.act(
            "Inspect Script Lines",
            script_name="train.py",
            start_line_number=" 5 ",
            end_line_number="5",
        )
        assert done(shown).endswith("5  CUT = 1")

    @pytest.mark.parametrize("value", ["five", "", "1.5", "9" * 5000])
    def test_text_that_is_no_whole_number_is_refused(self, world: Environment, value: str) -> None:
        arguments = {"start_line_number": value, "end_line_number": 5}
        assert "not a whole number" in refused(
            world.act("Inspect Script Lines", script_name="train.py", **arguments)
        )

    @given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers() | st.text() | st.none()))
    def test_arguments_are_in_their_types_or_refused(self, arguments: dict[str, Any]) -> None:
        action = Action("A", "", (Argument("a", ""), Argument("b", "", int)), lambda *_: "")
        try:
            checked = action.check(arguments)
        except ActionError:
            return
        assert set(checked) == {"a", "b"}
        assert isinstance(checked["a"], str)
        assert isinstance(checked["b"], int)


class TestFiles:
    def test_list_files(self, world: Environment, root: Path) -> None:
        (root / "empty").mkdir()
        (root / "two\nlines").touch()
        assert done(world.act("List Files", dir_path=".")).splitlines() == [
            "data/",
            "empty/",
            "train.py",
            "'two\\nlines'",
        ]
        assert done(world.act("List Files", dir_path="empty")) == "(the folder is empty)"
        assert '"none" is not a folder' in refused(world.act("List Files", dir_path="none"))

    def test_read_file(self, world: Environment, root: Path) -> None:
        assert done(world.act("Read File", file_name="train.py")) == STARTER
        (root / "latin.txt").write_bytes(b"caf\xe9")
        assert done(world.act("Read File", file_name="latin.txt")) == "caf\N{REPLACEMENT CHARACTER}"

    def test_read_file_cuts_a_very_long_one_and_says_so(
        self, world: Environment, root: Path
    ) -> None:
        (root / "long.txt").write_text("é" * 150_000)
        text = done(world.act("Read File", file_name="long.txt"))
        assert text == "é" * 100_000 + "\n(cut here, after 100,000 characters)"

    def test_write_file(self, world: Environment, root: Path) -> None:
        written = world.act("Write File", file_name="notes/a.txt", content="é\n")
        assert done(written) == "notes/a.txt is written."
        assert (root / "notes" / "a.txt").read_text() == "é\n"
        assert '"data/train.csv" is read-only' in refused(
            world.act("Write File", file_name="data/train.csv", content="")
        )

    def test_append_file(self, world: Environment, root: Path) -> None:
        for content in ("x = 1\n", "y = 2\n"):
            observation = world.act("Append File", file_name="new.py", content=content)
            assert done(observation) == "The text is appended to new.py. It parses as Python."
        assert (root / "new.py").read_text() == "x = 1\ny = 2\n"

    def test_copy_file(self, world: Environment, root: Path) -> None:
        assert done(world.act("Copy File", source="train.py", destination="a/best.py"))
        assert (root / "a" / "best.py").read_text() == STARTER
        assert done(world.act("Copy File", source="a", destination="b"))
        assert (root / "b" / "best.py").read_text() == STARTER
        assert 'there is no "none"' in refused(
            world.act("Copy File", source="none", destination="c")
        )

    def test_undo_edit_script(self, world: Environment, root: Path) -> None:
        world.act("Write File", file_name="train.py", content="broken(")
        text = done(world.act("Undo Edit Script", script_name="train.py"))
        assert text.startswith("The last change of train.py is undone. It parses as Python. It now")
        assert text.endswith(STARTER)
        assert 'no edit of "train.py" to undo' in refused(
            world.act("Undo Edit Script", script_name="train.py")
        )


class TestInspectScriptLines:
    def inspect(self, world: Environment, first: int, last: int) -> Observation:
        lines = {"start_line_number": first, "end_line_number": last}
        return world.act("Inspect Script Lines", script_name="long.py", **lines)

    @pytest.fixture(autouse=True)
    def long(self, root: Path) -> None:
        (root / "long.py").write_text("".join(f"line_{n}\n" for n in range(1, 251)))

    def test_both_ends_are_included_and_numbered(self, world: Environment) -> None:
        assert done(self.inspect(world, 2, 4)) == (
            "Lines 2 to 4 of the 250 lines of long.py:\n    2  line_2\n    3  line_3\n    4  line_4"
        )

    def test_a_hundred_lines_are_shown_at_most(self, world: Environment) -> None:
        assert done(self.inspect(world, 1, 100)).count("\n") == 100
        assert "at most 100 lines are shown at once" in refused(self.inspect(world, 1, 101))

    def test_what_lies_beyond_the_ends_is_left_out(self, world: Environment) -> None:
        assert "Lines 1 to 2 of" in done(self.inspect(world, -5, 2))
        assert "Lines 249 to 250 of" in done(self.inspect(world, 249, 10**30))

    @pytest.mark.parametrize(("first", "last"), [(300, 310), (20, 10), (0, 0), (-9, -3)])
    def test_where_there_are_none_the_number_of_lines_is_told(
        self, world: Environment, first: int, last: int
    ) -> None:
        assert "long.py has 250 lines; there are none from" in refused(
            self.inspect(world, first, last)
        )

    def test_lines_are_counted_as_python_counts_them(self, world: Environment, root: Path) -> None:
        (root / "long.py").write_bytes("a = '\u2028\x0c'\r\nb\rc".encode())
        assert "Lines 2 to 3 of the 3 lines" in done(self.inspect(world, 2, 3))


class TestTheNoteOnSyntax:
    """After a change of a Python file, the observation says whether it still parses."""

    @pytest.mark.parametrize(
        ("content", "note"),
        [
            ("x = 1\n", " It parses as Python."),
            ("", " It parses as Python."),
            ("x = 1\ndef f(:\n", " It does not parse: line 2: "),
            ("x = '\0'", " It does not parse: "),
            ("(" * 100_000, " It does not parse"),
            ("x = " + "-" * 100_000 + "1", " It does not parse"),
        ],
        ids=["valid", "empty", "invalid", "null byte", "parentheses", "nested"],
    )
    def test_says_where(self, content: str, note: str) -> None:
        assert describe_syntax("a.py", content).startswith(note)

    def test_is_about_python_files_alone(self) -> None:
        assert describe_syntax("a.txt", "def f(:") == ""

    @pytest.mark.parametrize("action", ["Write File", "Append File"])
    def test_follows_a_change(self, world: Environment, action: str) -> None:
        text = done(world.act(action, file_name="train.py", content="\nfor:"))
        assert "It does not parse: line " in text


class TestExecuteScript:
    def test_shows_what_it_printed_and_how_long_it_took(self, world: Environment) -> None:
        text = done(world.act("Execute Script", script_name="train.py"))
        assert text.startswith("train.py ran to its end in 0.")
        assert text.endswith("s.\nstandard output:\nvalidation accuracy: 0.7000")

    def test_a_failing_script_shows_both_streams_and_the_exit_code(
        self, world: Environment
    ) -> None:
        text = refused(execute(world, "print('before')\nraise ValueError('oops')\n"))
        assert text.startswith("run.py failed after 0.")
        assert "exit code 1." in text
        assert "standard output:\nbefore" in text
        assert "standard error:\nTraceback" in text
        assert "ValueError: oops" in text

    def test_the_exit_code_or_signal_is_told(self, world: Environment) -> None:
        assert "exit code 7." in refused(execute(world, "raise SystemExit(7)"))
        assert "killed by SIGSEGV" in refused(
            execute(world, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        )

    def test_a_silent_script_is_told_as_such(self, world: Environment) -> None:
        assert done(execute(world, "")).endswith("(no output)")

    def test_it_runs_in_the_workspaces_root(self, world: Environment, root: Path) -> None:
        source = "import helper, pathlib; print(pathlib.Path.cwd())"
        (root / "sub").mkdir()
        (root / "sub" / "helper.py").touch()
        assert str(root) in done(execute(world, source, "sub/run.py"))

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("none.py", 'there is no file "none.py"'),
            ("data", '"data" is not a Python script (.py)'),
            ("data/train.csv", "is not a Python script"),
            ("../score.py", "is outside the workspace"),
        ],
    )
    def test_what_cannot_be_run_is_told(self, world: Environment, name: str, problem: str) -> None:
        assert problem in refused(world.act("Execute Script", script_name=name))

    def test_output_is_kept_whole_as_it_comes(
        self, tmp_path: Path, world: Environment, root: Path
    ) -> None:
        source = (
            "import pathlib, time\nprint('first line')\n"
            "log = pathlib.Path(__file__).parents[1] / 'outputs' / '0001.txt'\n"
            "end = time.monotonic() + 5\n"
            "while time.monotonic() < end and 'first' not in log.read_text(): time.sleep(0.01)\n"
            "print('seen while running:', 'first line' in log.read_text())\n"
        )
        assert "seen while running: True" in done(execute(world, source))
        done(execute(world, "print('x' * 1_000_000)"))
        assert (tmp_path / "trial" / "outputs" / "0002.txt").stat().st_size == 1_000_001

    def test_of_long_output_head_and_tail_are_shown_with_the_count_left_out(
        self, world: Environment
    ) -> None:
        text = done(execute(world, "print('head' + 'x' * 100_000 + 'tail')"))
        assert "standard output:\nheadxxx" in text
        assert text.endswith("xxxtail")
        assert "\n[... 80,009 characters left out ...]\n" in text

    def test_it_is_bounded_by_what_remains_of_the_time(self, tmp_path: Path) -> None:
        with open_world(tmp_path, Limits(seconds=0.6, steps=9)) as world:
            begun = time.monotonic()
            text = refused(execute(world, "print('begun'); import time; time.sleep(60)"))
        assert "killed at its time limit" in text
        assert "begun" in text
        assert time.monotonic() - begun < 5

    def test_it_is_bounded_in_bytes(self, tmp_path: Path, world: Environment) -> None:
        text = refused(execute(world, "while True: print('x' * 100_000)"))
        assert "killed for too much output" in text
        assert (tmp_path / "trial" / "outputs" / "0001.txt").stat().st_size <= 32_000_000

    def test_what_it_leaves_running_is_killed(self, world: Environment) -> None:
        source = (
            "import subprocess, sys\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            "print(child.pid)\n"
        )
        text = done(execute(world, source))
        pid = int(text.splitlines()[-1])
        assert wait_until(lambda: not is_alive(pid), seconds=2)


class TestPythonRepl:
    def repl(self, world: Environment, command: str) -> Observation:
        return world.act("Python REPL", command=command)

    def test_variables_are_kept_from_call_to_call(self, world: Environment) -> None:
        assert done(self.repl(world, "x = 20")) == "(no output)"
        assert done(self.repl(world, "x + 1")) == "21\n"

    def test_it_sees_the_workspace(self, world: Environment) -> None:
        assert "validation accuracy: 0.7" in done(self.repl(world, "import train"))

    def test_an_exception_is_shown_and_the_variables_are_kept(self, world: Environment) -> None:
        done(self.repl(world, "x = 20"))
        assert "ZeroDivisionError" in refused(self.repl(world, "1 / 0"))
        assert done(self.repl(world, "x")) == "20\n"

    def test_after_a_crash_the_next_command_starts_afresh(self, world: Environment) -> None:
        done(self.repl(world, "x = 20"))
        text = refused(self.repl(world, "import os; os._exit(3)"))
        assert "exit code 3. Its variables are lost" in text
        assert "NameError" in refused(self.repl(world, "x"))

    def test_it_is_bounded_by_what_remains_of_the_time(self, tmp_path: Path) -> None:
        with open_world(tmp_path, Limits(seconds=0.6, steps=9)) as world:
            text = refused(self.repl(world, "while True: pass"))
        assert "killed at its time limit" in text

    def test_it_ends_with_the_turn(self, world: Environment) -> None:
        pid = int(done(self.repl(world, "import os; os.getpid()")))
        assert is_alive(pid)
        world.end("gave-up")
        assert wait_until(lambda: not is_alive(pid), seconds=2)
