"""Requests and replies as JSON: short, and the same when they come back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.exceptions import ActionError
from pytest_mlab.llm import Message, Reply, Request, Tool, ToolCall
from pytest_mlab.results import Usage

calls = st.builds(ToolCall, st.text(), st.text(), st.text())
replies = st.builds(
    Reply,
    text=st.text(),
    stop=st.sampled_from(["end", "length", "tool", "refused"]),
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    usage=st.builds(Usage, st.integers(0), st.integers(0), st.integers(0), st.floats(0, 100)),
    model=st.text(),
    seconds=st.floats(0, 1e6),
    native=st.none() | st.just({"openai-chat": {"content": "x"}}),
)


@given(replies)
def test_a_reply_comes_back_from_json_as_it_was(reply: Reply) -> None:
    assert Reply.from_dict(json.loads(json.dumps(reply.to_dict()))) == reply


def test_a_request_says_only_what_is_set() -> None:
    request = Request(messages=(Message.user("hello"),), seconds=12.5)
    assert request.to_dict() == {"messages": [{"role": "user", "text": "hello"}]}


def test_a_request_in_full() -> None:
    call = ToolCall("c1", "f", "{}")
    request = Request(
        system="Be brief.",
        messages=(Message.assistant("", (call,)), Message.tool_result("c1", "no", failed=True)),
        tools=(Tool("f", "A function.", {"type": "object"}),),
        stop=("x",),
        max_tokens=5,
    )
    assert request.to_dict() == {
        "system": "Be brief.",
        "messages": [
            {"role": "assistant", "tool_calls": [{"id": "c1", "name": "f", "arguments": "{}"}]},
            {"role": "tool", "text": "no", "call_id": "c1", "failed": True},
        ],
        "tools": [{"name": "f", "description": "A function.", "parameters": {"type": "object"}}],
        "stop": ["x"],
        "max_tokens": 5,
    }


def test_a_reply_becomes_the_next_requests_message() -> None:
    call = ToolCall("c1", "f", "{}")
    reply = Reply(text="So.", tool_calls=(call,), native={"openai-chat": {}})
    message = reply.message()
    assert (message.role, message.text, message.tool_calls) == ("assistant", "So.", (call,))
    assert message.native == {"openai-chat": {}}


def is_object(text: str) -> bool:
    """Say whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except json.JSONDecodeError:
        return False


class TestArguments:
    def test_none_at_all_are_an_empty_object(self) -> None:
        assert ToolCall("c", "f", "").parse() == {}

    @given(st.dictionaries(st.text(), st.text() | st.integers()))
    def test_an_object_is_read(self, arguments: dict[str, object]) -> None:
        assert ToolCall("c", "f", json.dumps(arguments)).parse() == arguments

    @given(st.text(min_size=1))
    def test_anything_else_is_told_to_the_model(self, text: str) -> None:
        call = ToolCall("c", "read_file", text)
        if is_object(text):
            assert isinstance(call.parse(), dict)
        else:
            with pytest.raises(ActionError, match="read_file"):
                call.parse()

    @pytest.mark.parametrize("text", ['{"a": ', "[1]", '"text"', "null"])
    def test_such_as(self, text: str) -> None:
        with pytest.raises(ActionError):
            ToolCall("c", "f", text).parse()
