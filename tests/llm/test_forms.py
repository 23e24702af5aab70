"""What a model too small for instructions is held to, and how its answer is written out."""

import json

from pytest_mlab.llm import Message, Request, Tool, lookup
from pytest_mlab.llm.forms import LOCAL_STRING, parameters_of, schema_of, tool_choice, write_out

LOCAL, GPT_4, CLAUDE_5 = lookup("local"), lookup("gpt-4"), lookup("claude-opus-5-5")
HELLO = (Message.user("hello"),)
FORM = {
    "type": "object",
    "properties": {"Thought": {"type": "string"}, "Action": {"const": "List Files"}},
}
ASKED = Request(messages=HELLO, form=FORM)


def test_a_forms_answer_is_written_out_as_entries() -> None:
    entries = {
        "Thought": "Look\naround.",
        "Action": "List Files",
        "Action Input": {"dir_path": "."},
    }
    assert write_out(LOCAL, ASKED, json.dumps(entries)) == (
        'Thought: Look\naround.\nAction: List Files\nAction Input: {"dir_path": "."}'
    )


def test_one_that_was_cut_off_comes_as_it_is() -> None:
    assert write_out(LOCAL, ASKED, '{"Thought": "Loo') == '{"Thought": "Loo'


def test_others_are_left_alone() -> None:
    assert schema_of(GPT_4, ASKED) is None
    assert write_out(GPT_4, ASKED, '{"Thought": "x"}') == '{"Thought": "x"}'


def test_tools_go_before_a_form() -> None:
    tool = Tool("f", "", {"type": "object"})
    assert schema_of(LOCAL, Request(messages=HELLO, form=FORM, tools=(tool,))) is None


def test_every_string_of_the_local_model_has_an_end() -> None:
    schema = {
        "anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": ["x"]}}},
            {"type": "string", "maxLength": 7},
            {"type": "array", "items": {"type": "string"}},
        ]
    }
    bound = parameters_of(LOCAL, Tool("f", "", schema))
    assert bound == {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string", "maxLength": LOCAL_STRING},
                    "b": {"enum": ["x"]},
                },
            },
            {"type": "string", "maxLength": 7},
            {"type": "array", "items": {"type": "string", "maxLength": LOCAL_STRING}},
        ]
    }
    assert parameters_of(GPT_4, Tool("f", "", schema)) == schema


def test_how_far_a_model_may_choose() -> None:
    free, forced = Request(messages=HELLO), Request(messages=HELLO, tool_choice="required")
    assert (tool_choice(GPT_4, free), tool_choice(GPT_4, forced)) == ("auto", "required")
    assert (tool_choice(CLAUDE_5, free), tool_choice(CLAUDE_5, forced)) == ("auto", "auto")
    assert (tool_choice(LOCAL, free), tool_choice(LOCAL, forced)) == ("required", "required")
