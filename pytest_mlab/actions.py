"""What an agent can do: named actions with typed arguments, each returning an observation.

Names and arguments are the paper's (MLAgentBench, appendix on the environment); what an action
cannot do it says by raising `ActionError`, whose message becomes the observation.
"""

import ast
import io
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pytest_mlab.exceptions import ActionError
from pytest_mlab.process import Completed
from pytest_mlab.workbench import Workbench

MOST_LINES = 100
MOST_CHARACTERS = 100_000


@dataclass(frozen=True)
class Argument:
    """One argument of an action; ``kind`` is `str` or `int`."""

    name: str
    description: str
    kind: type = str


@dataclass(frozen=True)
class Action:
    """A named action. ``charged`` tells whether it counts as a step, ``final`` ends the turn."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    run: Callable[..., str]
    charged: bool = True
    final: bool = False

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Give the arguments in their types; raises `ActionError` that says how to call it."""
        expected = {argument.name: argument for argument in self.arguments}
        missing = [name for name in expected if name not in arguments]
        unknown = [name for name in arguments if name not in expected]
        if missing or unknown:
            problem = f"misses {', '.join(missing)}" if missing else f"has no {', '.join(unknown)}"
            raise ActionError(f"{self.name} {problem}; {self.usage()}")
        return {
            name: self._convert(argument, arguments[name]) for name, argument in expected.items()
        }

    def usage(self) -> str:
        """Say how the action is called."""
        names = ", ".join(
            f"{argument.name}: {argument.kind.__name__}" for argument in self.arguments
        )
        return f"its arguments are {{{names}}}"

    def _convert(self, argument: Argument, value: object) -> object:
        if argument.kind is int and isinstance(value, str):
            with suppress(ValueError):
                return int(value)
        if isinstance(value, argument.kind) and not isinstance(value, bool):
            return value
        raise ActionError(
            f"{self.name}: {argument.name} is {value!r:.100}, not {_KINDS[argument.kind]}; "
            f"{self.usage()}"
        )


_KINDS = {str: "text", int: "a whole number"}


def list_files(bench: Workbench, dir_path: str) -> str:
    """List a folder's entries, one a line."""
    names = bench.workspace.entries(dir_path)
    return "\n".join(map(_show_name, names)) or "(the folder is empty)"


def read_file(bench: Workbench, file_name: str) -> str:
    """Give a file's text, its end left out where it is very long."""
    text = bench.workspace.read(file_name, most=4 * MOST_CHARACTERS).decode("utf-8", "replace")
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n(cut here, after {MOST_CHARACTERS:,} characters)"


def write_file(bench: Workbench, file_name: str, content: str) -> str:
    """Write a whole file."""
    bench.workspace.write(file_name, _encode(content))
    return f"{file_name} is written.{describe_syntax(file_name, content)}"


def append_file(bench: Workbench, file_name: str, content: str) -> str:
    """Append to a file, which is made where there is none."""
    before = b""
    if bench.workspace.exists(file_name):
        before = bench.workspace.read(file_name)
    after = before + _encode(content)
    bench.workspace.write(file_name, after)
    text = after.decode("utf-8", "replace")
    return f"The text is appended to {file_name}.{describe_syntax(file_name, text)}"


def copy_file(bench: Workbench, source: str, destination: str) -> str:
    """Copy a file or folder."""
    bench.copy(source, destination)
    return f"{source} is copied to {destination}."


def inspect_script_lines(
    bench: Workbench, script_name: str, start_line_number: int, end_line_number: int
) -> str:
    """Show numbered lines of a file, both ends included."""
    text = bench.workspace.read(script_name).decode("utf-8", "replace")
    lines = [line.rstrip("\r\n") for line in io.StringIO(text, newline="")]
    first, last = max(start_line_number, 1), min(end_line_number, len(lines))
    if last - first + 1 > MOST_LINES:
        raise ActionError(f"at most {MOST_LINES} lines are shown at once; ask for fewer")
    if first > last:
        raise ActionError(
            f"{script_name} has {len(lines)} lines; "
            f"there are none from {start_line_number} to {end_line_number}"
        )
    shown = "\n".join(f"{number:>5}  {lines[number - 1]}" for number in range(first, last + 1))
    return f"Lines {first} to {last} of the {len(lines)} lines of {script_name}:\n{shown}"


def undo_edit_script(bench: Workbench, script_name: str) -> str:
    """Take back the last change of a file."""
    bench.workspace.undo(script_name)
    content = bench.workspace.read(script_name).decode("utf-8", "replace")
    note = describe_syntax(script_name, content)
    return f"The last change of {script_name} is undone.{note} It now reads:\n{content}"


def execute_script(bench: Workbench, script_name: str) -> str:
    """Run a Python script to its end, in the workspace's root."""
    if not script_name.endswith(".py"):
        raise ActionError(f'"{script_name}" is not a Python script (.py)')
    return _describe_run(script_name, bench.execute(script_name))


def python_repl(bench: Workbench, command: str) -> str:
    """Run Python code in a process that keeps its state between calls."""
    reply = bench.evaluate(command)
    if not reply.ok:
        raise ActionError(reply.text())
    return reply.text() or "(no output)"


def final_answer(bench: Workbench, final_answer: str) -> str:
    """End the turn and hand in what lies in the workspace."""
    return "The final answer is handed in."


def describe_syntax(file_name: str, content: str) -> str:
    """Say, behind a change of a Python file, whether it still parses, and where not."""
    if not file_name.endswith(".py"):
        return ""
    try:
        ast.parse(content)
    except SyntaxError as error:
        return f" It does not parse: line {error.lineno}: {error.msg}."
    except (ValueError, RecursionError, MemoryError) as error:
        return f" It does not parse: {error}."
    return " It parses as Python."


def _describe_run(subject: str, run: Completed) -> str:
    streams = [
        f"{title}:\n{text.rstrip()}"
        for title, text in (("standard output", run.stdout), ("standard error", run.stderr))
        if text.strip()
    ]
    output = "\n".join(streams) or "(no output)"
    if run.ended == "exited" and run.exit_code == 0:
        return f"{subject} ran to its end in {run.seconds:.1f} s.\n{output}"
    raise ActionError(
        f"{subject} failed after {run.seconds:.1f} s: {run.describe_end()}.\n{output}"
    )


def _show_name(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def _encode(content: str) -> bytes:
    return content.encode("utf-8", "surrogatepass")


_SCRIPT = Argument("script_name", "a Python script of the workspace, such as train.py")
_FILE = Argument("file_name", "a file, by its path within the workspace")

ACTIONS: tuple[Action, ...] = (
    Action(
        "List Files",
        "List the entries of a folder.",
        (Argument("dir_path", 'a folder, by its path within the workspace; "." is its root'),),
        list_files,
    ),
    Action("Read File", "Read a file.", (_FILE,), read_file),
    Action(
        "Write File",
        "Write a file; what it held before is replaced.",
        (_FILE, Argument("content", "the whole text of the file")),
        write_file,
    ),
    Action(
        "Append File",
        "Append text to a file.",
        (_FILE, Argument("content", "the text to append")),
        append_file,
    ),
    Action(
        "Copy File",
        "Copy a file or a folder.",
        (
            Argument("source", "the path to copy from"),
            Argument("destination", "the path to copy to"),
        ),
        copy_file,
    ),
    Action(
        "Inspect Script Lines",
        f"Show some lines of a file with their numbers, at most {MOST_LINES}.",
        (
            _SCRIPT,
            Argument("start_line_number", "the first line, counted from 1", int),
            Argument("end_line_number", "the last line", int),
        ),
        inspect_script_lines,
    ),
    Action(
        "Undo Edit Script",
        "Take back the last change of a file.",
        (_SCRIPT,),
        undo_edit_script,
    ),
    Action(
        "Execute Script",
        "Run a Python script and show what it prints.",
        (_SCRIPT,),
        execute_script,
    ),
    Action(
        "Python REPL",
        "Run Python code; variables are kept from one call to the next.",
        (Argument("command", "the Python code"),),
        python_repl,
    ),
    Action(
        "Final Answer",
        "Hand in the submission that lies in the workspace. Nothing can be done after it.",
        (Argument("final_answer", "a sentence on what was done"),),
        final_answer,
        final=True,
    ),
)
