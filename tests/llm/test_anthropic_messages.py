"""What Anthropic's messages are sent, and what is read out of their answers."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_mlab.llm import Message, Reply, Request, Tool, ToolCall, lookup
from pytest_mlab.llm.anthropic_messages import AnthropicMessages
from pytest_mlab.results import Usage
from tests.llm.conftest import at, completion
from tests.llm.servers import Answer, Canned

Serve = Callable[..., Canned]
TOOL = Tool("read_file", "Read a file.", {"type": "object", "properties": {}})
HELLO = (Message.user("hello"),)
CACHED = {"cache_control": {"type": "ephemeral"}}


def answer(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> Answer:
    """Give an answer of these content blocks."""
    body = completion(protocol="anthropic").body
    return Answer({**body, "content": list(content), "stop_reason": stop, **more})


def text(said: str = "Hello.") -> dict[str, Any]:
    """Give a block of text."""
    return {"type": "text", "text": said}


def read(canned: Serve, served: Answer) -> Reply:
    """Give the reply that an answer becomes."""
    return at(canned(served).url, "anthropic").complete(Request(messages=HELLO))


def sent(canned: Serve, model: str, request: Request) -> dict[str, Any]:
    """Give what a server is sent for a request."""
    server = canned(completion(protocol="anthropic"))
    at(server.url, "anthropic", model).complete(request)
    return server.requests[0]


class TestWhatIsSent:
    def test_everything_to_a_model_that_takes_everything(self, canned: Serve) -> None:
        request = Request(
            system="Be brief.",
            messages=HELLO,
            tools=(TOOL,),
            tool_choice="required",
            stop=("Observation:",),
            temperature=0.5,
            max_tokens=700,
        )
        assert sent(canned, "claude-3-opus-20240229", request) == {
            "model": "claude-3-opus-20240229",
            "system": [text("Be brief.") | CACHED],
            "messages": [{"role": "user", "content": [text("hello")]}],
            "tools": [
                {
                    "name": "read_file",
                    "description": "Read a file.",
                    "input_schema": {"type": "object", "properties": {}},
                }
            ],
            "tool_choice": {"type": "any"},
            "stop_sequences": ["Observation:"],
            "temperature": 0.5,
            "max_tokens": 700,
        }

    def test_no_temperature_to_a_model_that_rejects_it(self, canned: Serve) -> None:
        request = Request(messages=HELLO, temperature=0.5, stop=("x",))
        body = sent(canned, "claude-opus-4-7", request)
        assert "temperature" not in body
        assert body["stop_sequences"] == ["x"]

    def test_no_tool_is_forced_on_a_model_that_thinks_and_it_has_room_to(
        self, canned: Serve
    ) -> None:
        request = Request(messages=HELLO, tools=(TOOL,), tool_choice="required", max_tokens=700)
        body = sent(canned, "claude-opus-5-5", request)
        assert body["tool_choice"] == {"type": "auto"}
        assert body["max_tokens"] > 700

    def test_a_conversation_is_cached_up_to_its_end_but_a_lone_prompt_is_not(
        self, canned: Serve
    ) -> None:
        """Writing to the cache costs a quarter more: it must have a chance to be read."""
        assert "cache_control" not in str(sent(canned, "m", Request(messages=HELLO)))
        turns = (*HELLO, Message.assistant("Yes?"), Message.user("Go on."))
        assert sent(canned, "m", Request(messages=turns))["messages"][-1]["content"] == [
            text("Go on.") | CACHED
        ]

    def test_all_results_of_a_turn_go_into_one_message(self, canned: Serve) -> None:
        calls = (ToolCall("c1", "f", '{"a": 1}'), ToolCall("c2", "g", '{"a": '))
        request = Request(
            messages=(
                *HELLO,
                Message.assistant("Let me see.", calls),
                Message.tool_result("c1", "one"),
                Message.tool_result("c2", "not JSON", failed=True),
                Message.user("Go on."),
            )
        )
        assert sent(canned, "m", request)["messages"][1:] == [
            {
                "role": "assistant",
                "content": [
                    text("Let me see."),
                    {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "g", "input": {"arguments": '{"a": '}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "content": "not JSON",
                        "is_error": True,
                    },
                    text("Go on.") | CACHED,
                ],
            },
        ]

    def test_an_empty_answer_is_left_out_of_the_conversation(self, canned: Serve) -> None:
        """The API takes no empty message, although its models write some."""
        request = Request(messages=(*HELLO, Message.assistant(""), Message.user("Anybody there?")))
        assert sent(canned, "m", request)["messages"] == [
            {"role": "user", "content": [text("hello"), text("Anybody there?")]}
        ]

    def test_a_schema_is_a_parameter_where_models_take_it(self, canned: Serve) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        body = sent(canned, "claude-opus-5-5", Request(messages=HELLO, json_schema=schema))
        assert body["output_config"]["format"] == {"type": "json_schema", "schema": schema}

    def test_a_schema_is_a_tool_to_older_ones(self, canned: Serve) -> None:
        call = {"type": "tool_use", "id": "c", "name": "answer", "input": {"a": 1}}
        server = canned(answer(call, stop="tool_use"))
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        llm = at(server.url, "anthropic", "claude-2.1")
        reply = llm.complete(Request(messages=HELLO, json_schema=schema))
        assert server.requests[0]["tools"][0]["input_schema"] == schema
        assert server.requests[0]["tool_choice"] == {"type": "any"}
        assert (reply.text, reply.stop, reply.tool_calls) == ('{"a": 1}', "end", ())


class TestWhatIsRead:
    @pytest.mark.parametrize(
        ("said", "stop"),
        [
            ("end_turn", "end"),
            ("max_tokens", "length"),
            ("model_context_window_exceeded", "length"),
            ("stop_sequence", "stop-sequence"),
            ("refusal", "refused"),
            ("pause_turn", "end"),
            ("something_new", "end"),
        ],
    )
    def test_why_it_stopped(self, canned: Serve, said: str, stop: str) -> None:
        assert read(canned, answer(text(), stop=said)).stop == stop

    def test_what_was_read_from_and_written_to_the_cache_is_input(self, canned: Serve) -> None:
        usage = {
            "input_tokens": 100,
            "cache_read_input_tokens": 700,
            "cache_creation_input_tokens": 200,
            "output_tokens": 50,
        }
        reply = read(canned, answer(text(), usage=usage))
        assert reply.usage == Usage(1000, 50, cached_tokens=700)

    def test_each_kind_of_token_has_its_price(
        self, canned: Serve, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Claude 3 Opus, for a million: $15 in, $1.50 from and $18.75 into the cache, $75 out."""
        usage = {
            "input_tokens": 1_000_000,
            "cache_read_input_tokens": 1_000_000,
            "cache_creation_input_tokens": 1_000_000,
            "output_tokens": 1_000_000,
        }
        server = canned(answer(text(), usage=usage))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-unused")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        llm = AnthropicMessages(lookup("claude-3-opus-20240229"))
        reply = llm.complete(Request(messages=HELLO))
        assert reply.usage.cost_usd == pytest.approx(15 + 1.5 + 18.75 + 75)

    def test_thoughts_go_back_untouched(self, canned: Serve) -> None:
        """Their signature holds for the very block: the API rejects a changed one."""
        thought = {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}
        call = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
        server = canned(
            answer(thought, text("So."), call, stop="tool_use"), completion(protocol="anthropic")
        )
        llm = at(server.url, "anthropic", "claude-opus-5-5")
        reply = llm.complete(Request(messages=HELLO))
        assert reply.text == "So."
        messages = (*HELLO, reply.message(), Message.tool_result("c1", "ok"))
        llm.complete(Request(messages=messages))
        assert server.requests[1]["messages"][1]["content"] == [thought, text("So."), call]
