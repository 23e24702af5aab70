"""What OpenAI's responses are sent, and what is read out of their answers."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_mlab.llm import LLM, Message, Reply, Request, Tool, connect, lookup
from pytest_mlab.llm.errors import BadAnswer
from pytest_mlab.results import Usage
from tests.llm.servers import Answer, Canned

Serve = Callable[..., Canned]
Ask = Callable[..., tuple[LLM, Canned]]
TOOL = Tool("read_file", "Read a file.", {"type": "object", "properties": {}})
HELLO = (Message.user("hello"),)
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "read_file",
    "arguments": '{"file_name": "a"}',
    "status": "completed",
}


def said(text: str = "Hello.") -> dict[str, Any]:
    """Give an item of output text."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def answer(*output: dict[str, Any], status: str = "completed", **more: Any) -> Answer:
    """Give an answer of these items."""
    usage = {
        "input_tokens": 1000,
        "output_tokens": 300,
        "total_tokens": 1300,
        "input_tokens_details": {"cached_tokens": 600},
        "output_tokens_details": {"reasoning_tokens": 200},
    }
    body = {"id": "resp_1", "object": "response", "model": "gpt-6-sol", "created_at": 0}
    return Answer({**body, "status": status, "output": list(output), "usage": usage, **more})


@pytest.fixture
def gpt(canned: Serve, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Give a function that serves answers and gives the model that gets them."""

    def serve(*answers: Answer) -> tuple[LLM, Canned]:
        server = canned(*answers)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-unused-here")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        return connect(lookup("gpt-6-sol")), server

    return serve


def read(gpt: Ask, served: Answer) -> Reply:
    """Give the reply that an answer becomes."""
    return gpt(served)[0].complete(Request(messages=HELLO))


def test_a_model_that_reasons_is_asked_there(gpt: Ask) -> None:
    llm, server = gpt(answer(said()))
    request = Request(
        system="Be brief.",
        messages=HELLO,
        tools=(TOOL,),
        stop=("x",),
        temperature=0.5,
        max_tokens=700,
    )
    assert llm.complete(request).text == "Hello."
    assert server.paths == ["/v1/responses"]
    body = server.requests[0]
    assert body.pop("max_output_tokens") > 700
    assert body == {
        "model": "gpt-6-sol",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "hello"}],
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "tool_choice": "auto",
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Read a file.",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            }
        ],
    }


def test_what_it_thought_goes_back_with_its_call(gpt: Ask) -> None:
    llm, server = gpt(answer(THOUGHT, CALL), answer(said("Read.")))
    reply = llm.complete(Request(messages=HELLO, tools=(TOOL,)))
    assert reply.stop == "tool"
    assert reply.tool_calls[0].parse() == {"file_name": "a"}
    messages = (*HELLO, reply.message(), Message.tool_result("c1", "text of a"))
    assert llm.complete(Request(messages=messages, tools=(TOOL,))).text == "Read."
    assert server.requests[1]["input"][1:] == [
        THOUGHT,
        CALL,
        {"type": "function_call_output", "call_id": "c1", "output": "text of a"},
    ]


def test_a_conversation_of_another_model_is_told_in_its_words(gpt: Ask) -> None:
    llm, server = gpt(answer(said()))
    turns = (*HELLO, Message.assistant("Yes?"), Message.user("Go on."))
    llm.complete(Request(messages=turns, json_schema={"type": "object"}))
    assert server.requests[0]["input"][1] == {"role": "assistant", "content": "Yes?"}
    assert server.requests[0]["text"]["format"]["schema"] == {"type": "object"}


def test_usage(gpt: Ask) -> None:
    usage = read(gpt, answer(said())).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1000, 300, 600)
    assert 0 < usage.cost_usd < 1


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "filtered")]
)
def test_why_it_stopped(gpt: Ask, reason: str, stop: str) -> None:
    served = answer(THOUGHT, status="incomplete", incomplete_details={"reason": reason})
    reply = read(gpt, served)
    assert (reply.stop, reply.text) == (stop, "")


def test_a_refusal(gpt: Ask) -> None:
    refusal = said() | {"content": [{"type": "refusal", "refusal": "I will not."}]}
    reply = read(gpt, answer(refusal))
    assert (reply.stop, reply.text) == ("refused", "I will not.")


def test_a_failure_behind_a_status_of_200(gpt: Ask) -> None:
    error = {"code": "server_error", "message": "The model crashed."}
    with pytest.raises(BadAnswer, match=r"The model crashed\."):
        read(gpt, answer(status="failed", error=error))


def test_no_usage(gpt: Ask) -> None:
    assert read(gpt, answer(said(), usage=None)).usage == Usage()
