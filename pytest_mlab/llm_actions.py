"""The actions that ask a language model; only in trials that have one."""

import difflib
import re

from pytest_mlab.actions import Action, Argument, describe_syntax
from pytest_mlab.asking import ask_fast, clean, describe_stop, number, split_text
from pytest_mlab.exceptions import ActionError
from pytest_mlab.llm import Message, Request
from pytest_mlab.models import Models
from pytest_mlab.prompts import fill
from pytest_mlab.workbench import Workbench

EDIT_TEMPERATURE = 0.5
EDIT_TOKENS = 4000
MOST_BYTES = 100_000_000
"""Bytes of a file that are read before the blocks to look at are chosen."""
MOST_LOG = 100_000
"""Characters of the Research Log, its latest, that a request holds."""

_FENCED = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[ \t]*\r?\n(.*?)^[ \t]*```[ \t]*$", re.S | re.M)
_FENCE = re.compile(r"^[ \t]*```", re.M)


def understand_file(bench: Workbench, file_name: str, things_to_look_for: str) -> str:
    """Describe a file under an aspect, block by block."""
    text = bench.workspace.read(file_name, most=MOST_BYTES).decode("utf-8", "replace")
    llm = _models(bench).fast
    told = {"file": file_name, "aspect": things_to_look_for}
    found = [
        ask_fast(llm, fill("understand", place=place, text=block, **told))
        for place, block in split_text(text)
    ]
    if len(found) == 1:
        return found[0]
    return ask_fast(llm, fill("understand_all", parts=number(found), **told))


def edit_script(bench: Workbench, script_name: str, edit_instruction: str, save_name: str) -> str:
    """Let a model rewrite a script by an instruction; an empty one where there is none."""
    before = ""
    if bench.workspace.exists(script_name):
        before = bench.workspace.read(script_name).decode("utf-8", "replace")
    prompt = fill("edit", script=before, name=script_name, instruction=edit_instruction)
    return _save(bench, save_name, before, _ask_code(bench, prompt))


def edit_script_segment(  # noqa: PLR0917 - the paper's arguments
    bench: Workbench,
    script_name: str,
    start_line_number: int,
    end_line_number: int,
    edit_instruction: str,
    save_name: str,
) -> str:
    """Let a model rewrite some lines of a script, both ends included."""
    before = bench.workspace.read(script_name).decode("utf-8", "replace")
    lines = before.splitlines(keepends=True)
    first, last = max(start_line_number, 1), min(end_line_number, len(lines))
    if first > last:
        raise ActionError(
            f"{script_name} has {len(lines)} lines; "
            f"there are none from {start_line_number} to {end_line_number}"
        )
    segment = "".join(lines[first - 1 : last])
    prompt = fill(
        "edit_segment",
        segment=segment,
        name=script_name,
        first=first,
        last=last,
        instruction=edit_instruction,
    )
    code = _ask_code(bench, prompt)
    after = "".join(lines[: first - 1]) + code + "".join(lines[last:])
    return _save(bench, save_name, before, after)


def reflect(bench: Workbench, things_to_reflect_on: str) -> str:
    """Think over what the Research Log holds."""
    prompt = fill(
        "reflect", problem=bench.problem, log=read_log(bench), question=things_to_reflect_on
    )
    return ask_fast(_models(bench).fast, prompt)


def append_summary(bench: Workbench, content: str) -> str:
    """Append to the Research Log."""
    with bench.log.open("a", encoding="utf-8", errors="replace") as log:
        log.write(content.rstrip() + "\n\n")
    return "The summary is appended to the Research Log."


def retrieve(bench: Workbench, current_plan: str) -> str:
    """Give what of the Research Log matters to a plan."""
    prompt = fill("retrieve", problem=bench.problem, log=read_log(bench), plan=current_plan)
    return ask_fast(_models(bench).fast, prompt)


def read_log(bench: Workbench) -> str:
    """Give the Research Log, its latest part where it is very long."""
    text = bench.log.read_text(encoding="utf-8") if bench.log.exists() else ""
    if len(text) <= MOST_LOG:
        return text or "(nothing is in it yet)"
    return f"(the first {len(text) - MOST_LOG:,} characters are left out)\n{text[-MOST_LOG:]}"


def _ask_code(bench: Workbench, prompt: str) -> str:
    """Ask for a whole piece of Python; an answer that is not one is never saved."""
    request = Request(
        messages=(Message.user(clean(prompt)),),
        temperature=EDIT_TEMPERATURE,
        max_tokens=EDIT_TOKENS,
    )
    reply = _models(bench).edit.complete(request)
    nothing = "Nothing is saved; the script is as it was."
    if reply.stop == "length":
        raise ActionError(
            f"The edit is cut off after {EDIT_TOKENS} tokens. {nothing} Edit a shorter script, or "
            "put new code into a script of its own."
        )
    if reply.stop in {"refused", "filtered"}:
        raise ActionError(f"There is no edit{describe_stop(reply)}. {nothing}")
    return find_code(reply.text, nothing)


def find_code(text: str, nothing: str = "") -> str:
    """Give the fenced code of an answer; raises `ActionError` where there is not exactly one."""
    blocks = _FENCED.findall(text)
    python = [code for language, code in blocks if language.lower() in {"python", "py", "python3"}]
    found = python or [code for _, code in blocks]
    problem = ""
    if len(_FENCE.findall(text)) % 2:
        problem = "its code fence (```) is not closed"
    elif not found:
        problem = "it holds no fenced code (```python)"
    elif len(found) > 1:
        problem = f"it holds {len(found)} pieces of code, not one"
    elif not found[0].strip():
        problem = "its code is empty"
    if problem:
        raise ActionError(f"The edit cannot be used: {problem}. {nothing}".strip())
    code: str = found[0]
    return code


def _save(bench: Workbench, name: str, before: str, after: str) -> str:
    bench.workspace.write(name, after.encode("utf-8", "replace"))
    diff = "".join(
        line if line.endswith("\n") else f"{line}\n"
        for line in difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), "before", name
        )
    )
    changes = f"The changes:\n{diff}" if diff else "It changes nothing."
    return f"The edited script is saved as {name}.{describe_syntax(name, after)} {changes}"


def _models(bench: Workbench) -> Models:
    if bench.models is None:
        raise ActionError("there is no language model in this trial")
    return bench.models


_SCRIPT = Argument("script_name", "a Python script of the workspace, such as train.py")
_SAVE = Argument("save_name", "the file to save the result in; may be the script itself")
_INSTRUCTION = Argument("edit_instruction", "in detail, step by step, what is to be changed")

LLM_ACTIONS: tuple[Action, ...] = (
    Action(
        "Understand File",
        "Have a file read from end to end and described under an aspect.",
        (
            Argument("file_name", "a file, by its path within the workspace"),
            Argument("things_to_look_for", "in detail, what to look for and what to return"),
        ),
        understand_file,
    ),
    Action(
        "Edit Script (AI)",
        "Have a script changed by an instruction, or written where there is none. Shows what "
        "changed; Undo Edit Script takes it back.",
        (_SCRIPT, _INSTRUCTION, _SAVE),
        edit_script,
    ),
    Action(
        "Edit Script Segment (AI)",
        "Have some lines of a script changed by an instruction. Shows what changed; Undo Edit "
        "Script takes it back.",
        (
            _SCRIPT,
            Argument("start_line_number", "the first line, counted from 1", int),
            Argument("end_line_number", "the last line", int),
            _INSTRUCTION,
            _SAVE,
        ),
        edit_script_segment,
    ),
    Action(
        "Reflection",
        "Have the Research Log thought over.",
        (Argument("things_to_reflect_on", "in detail, what to reflect on and what to return"),),
        reflect,
        charged=False,
    ),
    Action(
        "Append Summary to Research Log",
        "Append to the Research Log what was done and what came of it.",
        (Argument("content", "the summary, 500 characters at most"),),
        append_summary,
        charged=False,
    ),
    Action(
        "Retrieval from Research Log",
        "Get what matters to the current plan out of the Research Log.",
        (Argument("current_plan", "the current plan and status"),),
        retrieve,
        charged=False,
    ),
)
