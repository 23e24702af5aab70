"""What models write where entries were asked for."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents.responses import ENTRIES, Response, ResponseError, parse_response
from pytest_mlab.llm_actions import LLM_ACTIONS

EVERY = (*ACTIONS, *LLM_ACTIONS)
RUN = {"script_name": "train.py"}
WRITTEN = {"file_name": "a.py", "content": 'print("a")\n'}

PLAIN = """\
Reflection: Nothing yet.
Research Plan and Status: 1. Look. 2. Run.
Fact Check: Nothing to check.
Thought: I run it.
Action: Execute Script
Action Input: {"script_name": "train.py"}"""


def parse(text: str) -> tuple[str, dict[str, Any]]:
    response = parse_response(text, EVERY)
    return response.action, dict(response.arguments)


def test_reads_all_entries() -> None:
    response = parse_response(PLAIN, EVERY)
    assert response.entries == {
        "Reflection": "Nothing yet.",
        "Research Plan and Status": "1. Look. 2. Run.",
        "Fact Check": "Nothing to check.",
        "Thought": "I run it.",
    }
    assert (response.action, response.arguments) == ("Execute Script", RUN)


def test_gives_an_answer_back_in_the_form_it_should_have_had() -> None:
    response = parse_response(PLAIN, EVERY)
    assert parse_response(response.text(), EVERY) == response
    assert list(response.entries) == list(ENTRIES[:-2])


@pytest.mark.parametrize(
    "text",
    [
        '**Action:** Execute Script\n**Action Input:** {"script_name": "train.py"}',
        '**Action**: **Execute Script**\n**Action Input**: {"script_name": "train.py"}',
        '## Action\nExecute Script\n\n## Action Input\n```json\n{"script_name": "train.py"}\n```',
        '### Action:\n`Execute Script`\n### Action Input:\n```\n{"script_name": "train.py"}\n```',
        '**Action**\nExecute Script\n**Action Input**\n{"script_name": "train.py"}',
        '- Action: "Execute Script"\n- Action Input: {"script_name": "train.py"}',
        '5. Action: [Execute Script]\n6. Action Input: {"script_name": "train.py"}',
        '> Action: Execute Script.\n> Action Input: {"script_name": "train.py"}',
        'action: execute_script\naction input: {"script_name": "train.py"}',
        'Action：Execute Script\nAction Input：{"script_name": "train.py"}',
        'Action: Execute Script\n{"script_name": "train.py"}',
        'Action: Execute Script {"script_name": "train.py"}',
        "Action: Execute Script\nAction Input: {'script_name': 'train.py'}",
        'Action: Execute Script\nAction Input: {"script_name": "train.py",}',
        'Action: Execute Script\nAction Input: {"script_name": """train.py"""}',
        'Action: Execute Script\nAction Input: {\n\n"script_name":\n"train.py"\n}',
        "Action: Execute Script\nAction Input: train.py",
        "Action: Execute Script\nAction Input: `train.py`\n\nObservation: it ran",
        'Action: Execute Script\nAction Input: {"Action Input": {"script_name": "train.py"}}',
        '{"Thought": "", "Action": "Execute Script", "Action Input": {"script_name": "train.py"}}',
        PLAIN + "\nObservation:\n```\naccuracy 1.0\n```\nI am done.",
        PLAIN + '\n\nAction: Final Answer\nAction Input: {"final_answer": "done"}',
        "Thought: 我先运行脚本。\n" + PLAIN.partition("Thought: I run it.\n")[2],
        "Thought: the next\nAction: will be to run it.\n" + PLAIN,
        "Thought: my Action: Final Answer comes later.\n" + PLAIN,
    ],
)
def test_understands_what_models_really_send(text: str) -> None:
    assert parse(text) == ("Execute Script", RUN)


@pytest.mark.parametrize(
    "content",
    [
        '"print(\\"a\\")\\n"',
        '"""print("a")\n"""',
        "'print(\"a\")\\n'",
        '"print("a")\n"',
    ],
)
def test_understands_code_in_all_its_quotes(content: str) -> None:
    text = f'Action: Write File\nAction Input: {{"file_name": "a.py", "content": {content}}}'
    assert parse(text) == ("Write File", WRITTEN)


def test_an_entry_within_an_argument_is_text() -> None:
    content = "Action: Final Answer\nAction Input: {}\nObservation: {\n"
    arguments = {"file_name": "notes.md", "content": content}
    written = json.dumps(arguments, ensure_ascii=False).replace("\\n", "\n")
    assert parse(f"Action: Write File\nAction Input: {written}") == ("Write File", arguments)


def test_the_longest_name_counts() -> None:
    edit = {"script_name": "a.py", "edit_instruction": "x", "save_name": "a.py"}
    segment = {**edit, "start_line_number": 1, "end_line_number": 2}
    for name, arguments in (
        ("Edit Script (AI)", edit),
        ("Edit Script Segment (AI)", segment),
        ("Edit Script", edit),
    ):
        said, read = parse(f"Action: {name}\nAction Input: {json.dumps(arguments)}")
        assert said == (name if name.endswith("(AI)") else "Edit Script (AI)")
        assert read == arguments


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no entry `Action:`"),
        ("I would rather not.", "no entry `Action:`"),
        ("Action: Dance\nAction Input: {}", 'no action "Dance"'),
        ("Action: Execute Scripts\nAction Input: {}", 'no action "Execute Scripts"'),
        ("Action: Execute Script", "no Action Input"),
        ("Action: Write File\nAction Input: a.py", "no Action Input"),
        ('Action: Write File\nAction Input: {"file_name": "a.py", "content": "x = 1', "no end"),
        ('Action: Execute Script\nAction Input: {"script_name" = "train.py"}', "cannot be read"),
    ],
)
def test_says_what_is_missing(text: str, told: str) -> None:
    with pytest.raises(ResponseError, match=told):
        parse_response(text, EVERY)


def test_knows_only_the_actions_that_are_shown() -> None:
    with pytest.raises(ResponseError, match=r'no action "Execute Script"\. The actions are: List'):
        parse_response(PLAIN, EVERY[:2])


PIECES = st.sampled_from(
    [*ENTRIES, *(f"{name}:" for name in ENTRIES), "Observation:", "\n", " ", "**", "## ", "```json"]
    + [action.name for action in EVERY]
    + ["{", "}", '"', "'", '"""', ":", ",", '{"script_name": "train.py"}', "\\", "[", "：", "é中"]
)


@given(st.lists(PIECES).map("".join) | st.text())
def test_raises_nothing_but_its_own_error(text: str) -> None:
    with suppress(ResponseError):
        assert parse_response(text, EVERY).action in {action.name for action in EVERY}


CALLS = st.sampled_from(EVERY).flatmap(
    lambda action: st.fixed_dictionaries(
        {
            argument.name: st.text() if argument.kind is str else st.integers()
            for argument in action.arguments
        }
    ).map(lambda arguments: (action.name, arguments))
)
# Prose that names no entry: whatever names one in the right form is one.
PROSE = st.text().filter(lambda text: "action" not in text.lower())


@given(CALLS, st.lists(PROSE, min_size=4, max_size=4), st.text(), st.booleans())
def test_never_loses_a_well_formed_action(
    call: tuple[str, dict[str, Any]], prose: list[str], after: str, raw: bool
) -> None:
    name, arguments = call
    entries = "\n".join(f"{entry}: {text}" for entry, text in zip(ENTRIES, prose, strict=False))
    written = json.dumps(arguments, ensure_ascii=not raw)
    text = f"{entries}\nAction: {name}\nAction Input: {written}\n{after}"
    assert parse(text) == (name, arguments)


@given(CALLS, st.dictionaries(st.sampled_from(ENTRIES[:-2]), PROSE))
def test_reads_back_what_it_gives(
    call: tuple[str, dict[str, Any]], entries: dict[str, str]
) -> None:
    name, arguments = call
    given_back = parse_response(Response(entries, name, arguments).text(), EVERY)
    assert (given_back.action, given_back.arguments) == (name, arguments)


@pytest.mark.parametrize("piece", [" ", "#", "*", "Action", "Action:\n", '{"', "\n> ", "```", "'"])
def test_takes_no_time_over_a_senseless_answer(piece: str) -> None:
    """Models do get caught in loops."""
    start = time.perf_counter()
    with suppress(ResponseError):
        parse_response(f"Action: Execute Script\nAction Input: {piece * 20_000}", EVERY)
    assert time.perf_counter() - start < 2
