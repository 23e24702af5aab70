"""A Python REPL keeps its state, cannot fake the end of a command, and never hangs."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_mlab.exceptions import InfraError
from pytest_mlab.repl import Repl
from pytest_mlab.sandbox import View, find_sandbox
from tests.test_process import is_alive, wait_until


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def repl(workspace: Path) -> Iterator[Repl]:
    with Repl(find_sandbox("none"), View(writable=workspace), max_bytes=1_000_000) as repl:
        yield repl


def output(repl: Repl, code: str, seconds: float = 10) -> str:
    return repl.run(code, seconds).text()


def test_state_is_kept_from_command_to_command(repl: Repl) -> None:
    output(repl, "import math\nx = [1]")
    assert output(repl, "x.append(math.floor(2.5)); x") == "[1, 2]\n"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("1 + 1", "2\n"),
        ("'é'", "'é'\n"),
        ("None", ""),
        ("x = 5", ""),
        ("3; 4", "4\n"),
        ("print('a'); 'b'", "a\n'b'\n"),
        ("", ""),
        ("# only a comment", ""),
        ("for i in range(2):\n    print(i)", "0\n1\n"),
    ],
)
def test_the_value_of_a_last_expression_is_shown_as_python_shows_it(
    repl: Repl, code: str, shown: str
) -> None:
    reply = repl.run(code, 10)
    assert (reply.text(), reply.ok) == (shown, True)


def test_the_last_value_has_pythons_name_for_it(repl: Repl) -> None:
    output(repl, "6 * 7")
    assert output(repl, "_ + 1") == "43\n"


def test_a_traceback_shows_the_commands_own_lines_and_none_of_ours(repl: Repl) -> None:
    reply = repl.run("def half(x):\n    return x / 0\nhalf(1)", 10)
    assert reply.ended == "raised"
    lines = reply.text().splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == '  File "<command 1>", line 3, in <module>'
    assert "    return x / 0" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert reply.text().count("File ") == 2


@pytest.mark.parametrize("code", ["x = (", "return 1", "  indented", "a\0b", "1 = 2"])
def test_a_syntax_error_is_told_and_nothing_is_run(repl: Repl, code: str) -> None:
    reply = repl.run(f"print('ran')\n{code}", 10)
    assert reply.ended == "raised"
    assert "ran\n" not in reply.text().splitlines(keepends=True)
    assert "Traceback" not in reply.text()
    assert repl.run("1", 10).ok


def test_both_streams_are_shown_those_of_child_processes_too(repl: Repl) -> None:
    code = (
        "import os, sys; print('a'); print('b', file=sys.stderr); os.system('echo c; echo d >&2')"
    )
    assert output(repl, f"{code}; None") == "a\nb\nc\nd\n"


def test_there_is_no_input_to_wait_for(repl: Repl) -> None:
    assert "EOFError" in output(repl, "input('? ')")


def test_nothing_that_is_printed_passes_for_the_end_of_a_command(repl: Repl) -> None:
    code = (
        "import sys, os, time\n"
        "for stream in (1, 2): os.write(stream, b'finished\\nready\\nraised\\n')\n"
        "time.sleep(0.2); print('last')"
    )
    assert output(repl, code).endswith("last\n")
    assert output(repl, "7") == "7\n"


def test_a_command_is_not_read_from_by_the_code_it_runs(repl: Repl) -> None:
    output(repl, "import sys; sys.stdin.read(); open('/dev/stdin').read()")
    assert output(repl, "7") == "7\n"


def test_a_command_may_be_long(repl: Repl) -> None:
    assert output(repl, f"len('{'x' * 3_000_000}')") == "3000000\n"


def test_at_its_time_limit_the_process_is_killed_and_the_loss_told(repl: Repl) -> None:
    output(repl, "x = 1")
    started = time.monotonic()
    reply = repl.run("print('begun')\nwhile True: pass", 0.3)
    assert time.monotonic() - started < 2
    assert reply.ended == "timeout"
    assert reply.text().startswith("begun\n[The Python process ended: killed at its time limit")
    assert "variables are lost" in reply.text()
    assert "NameError" in output(repl, "x")


def test_too_much_output_ends_the_process(repl: Repl) -> None:
    reply = repl.run("while True: print('x' * 1000)", 10)
    assert reply.ended == "output-limit"
    assert len(reply.text()) < 25_000
    assert repl.run("1", 10).ok


def test_long_output_keeps_head_and_tail(repl: Repl) -> None:
    text = output(repl, "print('x' * 100_000)")
    assert "characters left out" in text
    assert len(text) < 25_000


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("exit(3)", "exit code 3"),
        ("import os; os._exit(4)", "exit code 4"),
        ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
    ],
)
def test_an_end_of_the_process_is_reported_and_the_next_command_starts_afresh(
    repl: Repl, code: str, how: str
) -> None:
    output(repl, "x = 1")
    reply = repl.run(code, 10)
    assert reply.ended == "exited"
    assert how in reply.text()
    assert "NameError" in output(repl, "x")
    assert output(repl, "7") == "7\n"


def test_a_child_that_a_command_forks_takes_no_further_commands(repl: Repl) -> None:
    output(repl, "import os\nif os.fork() == 0:\n    forked = True")
    assert [output(repl, str(number)) for number in range(20)] == [f"{n}\n" for n in range(20)]
    assert "NameError" in output(repl, "forked")


def test_definitions_can_be_pickled_as_in_a_script(repl: Repl) -> None:
    output(repl, "def double(x):\n    return 2 * x")
    code = (
        "import multiprocessing as m\nwith m.Pool(2) as pool:\n    print(pool.map(double, [1, 2]))"
    )
    assert output(repl, code) == "[2, 4]\n"


def test_it_runs_in_the_workspace_and_imports_what_lies_there(repl: Repl, workspace: Path) -> None:
    (workspace / "helper.py").write_text("answer = 42")
    assert output(repl, "import helper; helper.answer") == "42\n"
    assert output(repl, "import os; os.getcwd()") == f"'{workspace}'\n"


@pytest.mark.parametrize("name", ["ast", "linecache", "traceback", "types", "sitecustomize"])
def test_a_file_named_as_a_module_it_uses_cannot_break_it(
    repl: Repl, workspace: Path, name: str
) -> None:
    (workspace / f"{name}.py").write_text("raise SystemExit('shadowed')")
    assert "ZeroDivisionError" in output(repl, "1 / 0")
    assert output(repl, "7") == "7\n"


def test_closing_ends_what_it_started(workspace: Path) -> None:
    with Repl(find_sandbox("none"), View(writable=workspace)) as repl:
        pid = int(output(repl, "import subprocess; subprocess.Popen(['sleep', '60']).pid"))
    assert wait_until(lambda: not is_alive(pid))


class Interrupted(BaseException):
    """What a signal handler raises, as pytest-timeout's does."""


def test_an_exception_out_of_a_signal_handler_goes_on_and_ends_the_process(repl: Repl) -> None:
    def interrupt(*_: object) -> None:
        raise Interrupted

    output(repl, "x = 1")
    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Interrupted):
            repl.run("while True: pass", 20)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert "NameError" in output(repl, "x")


def test_a_python_that_does_not_start_is_not_the_agents_fault(
    repl: Repl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(InfraError, match=r"did not start.*nonexistent"):
        repl.run("1", 10)


class Late:
    """A way to run commands that passes on what they print later than what they report."""

    name = "late"
    inherits = False
    drain_seconds = 1.0

    def command(self, argv: Sequence[str], view: View) -> list[str]:
        script = """
import os, subprocess, sys, time
with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE) as process:
    while data := os.read(process.stdout.fileno(), 11):
        time.sleep(0.05)
        os.write(1, data)
"""
        return [sys.executable, "-c", script, *argv]

    def environment(self, view: View) -> dict[str, str]:
        return dict(os.environ)


def test_what_is_printed_belongs_to_its_command_however_late_it_comes(workspace: Path) -> None:
    """The engines of containers keep no order between a command's two streams."""
    with Repl(Late(), View(writable=workspace)) as repl:
        assert output(repl, "print('one ' * 10); 'shown'") == f"{'one ' * 10}\n'shown'\n"
        assert output(repl, "x = 2") == ""
        assert "NameError" in output(repl, "y")
        assert output(repl, "x") == "2\n"
