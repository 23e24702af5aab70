"""What chat completions are sent, and what is read out of their answers."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_mlab.llm import Message, Reply, Request, Tool, ToolCall, lookup
from pytest_mlab.llm.openai_chat import OpenAIChat
from pytest_mlab.results import Usage
from tests.llm.conftest import at, completion
from tests.llm.servers import Answer, Canned

Serve = Callable[..., Canned]
TOOL = Tool("read_file", "Read a file.", {"type": "object", "properties": {}})
HELLO = (Message.user("hello"),)


def answer(message: dict[str, Any], finish: str = "stop", **more: Any) -> Answer:
    """Give an answer that holds one message."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return Answer({"model": "a-model", "choices": [choice], **more})


def read(canned: Serve, served: Answer, model: str = "a-model") -> Reply:
    """Give the reply that an answer becomes."""
    return at(canned(served).url, "openai", model).complete(Request(messages=HELLO))


def sent(canned: Serve, model: str, request: Request) -> dict[str, Any]:
    """Give what a server is sent for a request."""
    server = canned(completion())
    at(server.url, "openai", model).complete(request)
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
        assert sent(canned, "gpt-4", request) == {
            "model": "gpt-4",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hello"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "read_file",
                        "description": "Read a file.",
                        "parameters": {"type": "object", "properties": {}},
                    },
                }
            ],
            "tool_choice": "required",
            "stop": ["Observation:"],
            "temperature": 0.5,
            "max_tokens": 700,
        }

    def test_no_sampling_to_a_model_that_reasons_but_room_to_do_so(self, canned: Serve) -> None:
        body = sent(canned, "o3", Request(messages=HELLO, temperature=0.5, stop=("x",)))
        assert body.keys() == {"model", "messages", "max_completion_tokens"}
        assert body["max_completion_tokens"] > 2000

    def test_a_schema(self, canned: Serve) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        body = sent(canned, "m", Request(messages=HELLO, json_schema=schema))
        assert body["response_format"]["json_schema"]["schema"] == schema

    def test_a_form_is_for_the_local_model_only(self, canned: Serve) -> None:
        body = sent(canned, "m", Request(messages=HELLO, form={"type": "object"}))
        assert "response_format" not in body

    def test_a_conversation(self, canned: Serve) -> None:
        call = ToolCall("c1", "read_file", '{"file_name": "a"}')
        request = Request(
            messages=(
                *HELLO,
                Message.assistant("", (call,)),
                Message.tool_result("c1", "text of a"),
                Message.assistant("Seen."),
                Message.user("Go on."),
            )
        )
        assert sent(canned, "m", request)["messages"][1:] == [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"file_name": "a"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "text of a"},
            {"role": "assistant", "content": "Seen."},
            {"role": "user", "content": "Go on."},
        ]


class TestWhatIsRead:
    @pytest.mark.parametrize(
        ("finish", "stop"),
        [
            ("stop", "end"),
            ("length", "length"),
            ("content_filter", "filtered"),
            ("something-new", "end"),
        ],
    )
    def test_why_it_stopped(self, canned: Serve, finish: str, stop: str) -> None:
        assert read(canned, answer({"content": "Hel"}, finish)).stop == stop

    def test_a_refusal(self, canned: Serve) -> None:
        reply = read(canned, answer({"content": None, "refusal": "I will not."}))
        assert (reply.stop, reply.text) == ("refused", "I will not.")

    def test_parallel_calls_with_broken_arguments_as_the_model_wrote_them(
        self, canned: Serve
    ) -> None:
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": text}}
            for n, text in enumerate(['{"a": 1}', '{"a": ', ""])
        ]
        reply = read(canned, answer({"content": None, "tool_calls": calls}, "tool_calls"))
        assert reply.stop == "tool"
        assert [call.arguments for call in reply.tool_calls] == ['{"a": 1}', '{"a": ', ""]

    def test_a_server_that_says_stop_and_means_tools(self, canned: Serve) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        assert read(canned, answer({"tool_calls": [call]}, "stop")).stop == "tool"

    def test_usage_with_what_the_cache_gave(self, canned: Serve) -> None:
        usage = {
            "prompt_tokens": 1000,
            "completion_tokens": 50,
            "total_tokens": 1050,
            "prompt_tokens_details": {"cached_tokens": 800},
        }
        reply = read(canned, answer({"content": "x"}, usage=usage))
        assert reply.usage == Usage(1000, 50, cached_tokens=800)

    def test_thinking_that_is_in_the_total_only_is_output(self, canned: Serve) -> None:
        """Gemini's way to count, and what it charges."""
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 610}
        assert read(canned, answer({"content": "x"}, usage=usage)).usage.output_tokens == 510

    def test_a_cost_that_the_provider_states_counts(self, canned: Serve) -> None:
        """OpenRouter's way: what it charged depends on whom it asked."""
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "cost": 0.0123,
        }
        assert read(canned, answer({"content": "x"}, usage=usage)).usage.cost_usd == 0.0123

    def test_a_cost_by_the_price_list(self, canned: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
        usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
        server = canned(answer({"content": "x"}, usage=usage))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        reply = OpenAIChat(lookup("gpt-4")).complete(Request(messages=HELLO))
        assert reply.usage.cost_usd == pytest.approx(30.0)

    def test_no_usage_at_all(self, canned: Serve) -> None:
        assert read(canned, answer({"content": "x"})).usage == Usage()

    def test_what_only_the_provider_understands_goes_back_untouched(self, canned: Serve) -> None:
        """Gemini rejects a conversation whose thought signatures are gone."""
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "c2lnbmVk"}},
        }
        server = canned(answer({"content": None, "tool_calls": [call]}, "tool_calls"), completion())
        llm = at(server.url, "openai", "gemini-3-pro-preview")
        reply = llm.complete(Request(messages=HELLO))
        messages = (*HELLO, reply.message(), Message.tool_result("c1", "ok"))
        llm.complete(Request(messages=messages))
        assert server.requests[1]["messages"][1]["tool_calls"] == [call]
