"""What can go wrong with a provider becomes one of a few errors, the same over either SDK."""

import time
from collections.abc import Callable

import pytest

from pytest_mlab.exceptions import ActionError, InfraError
from pytest_mlab.llm import Message, Request, lookup
from pytest_mlab.llm.errors import (
    BadAnswer,
    ConnectionLost,
    InvalidKey,
    Overloaded,
    RateLimited,
    RequestError,
    TooLong,
    UnknownModel,
)
from tests.llm.conftest import ask, at, completion
from tests.llm.servers import Answer, Canned

Serve = Callable[..., Canned]


class TestStatuses:
    """Told by `fakellm`'s rules, as a provider tells them: by status and message."""

    @pytest.mark.parametrize(
        ("question", "error"),
        [
            ("say 400", RequestError),
            ("say too long", TooLong),
            ("say 401", InvalidKey),
            ("say 403", InvalidKey),
            ("say 404", UnknownModel),
            ("say 413", TooLong),
            ("say 429", RateLimited),
            ("say 500", Overloaded),
            ("say 529", Overloaded),
        ],
    )
    def test_each_has_its_error(
        self, fakellm: str, protocol: str, question: str, error: type[Exception]
    ) -> None:
        with pytest.raises(error) as raised:
            ask(at(fakellm, protocol), question)
        assert type(raised.value) is error
        assert f"{protocol}:a-model" in str(raised.value)

    def test_a_bad_request_is_told_to_the_agent_and_the_rest_is_no_fault_of_its(self) -> None:
        assert issubclass(TooLong, ActionError)
        for error in (InvalidKey, UnknownModel, RateLimited, Overloaded, ConnectionLost, BadAnswer):
            assert issubclass(error, InfraError)

    def test_a_wrong_key_names_its_variable_but_never_shows_the_key(
        self, canned: Serve, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = "sk-proj-1234567890abcdef"
        monkeypatch.setenv("MY_SERVICE_KEY", key)
        said = {"error": {"message": f"Incorrect API key provided: {key}.", "code": "x"}}
        server = canned(Answer(said, status=401))
        from pytest_mlab.llm.openai_chat import OpenAIChat

        llm = OpenAIChat(lookup(f"openai:m@{server.url}/v1#MY_SERVICE_KEY"), retries=0)
        with pytest.raises(InvalidKey, match="MY_SERVICE_KEY") as raised:
            ask(llm, "hello")
        assert server.headers[0]["authorization"] == f"Bearer {key}"
        assert key not in str(raised.value)
        assert key not in repr(llm) + repr(llm.spec)

    def test_no_key_is_sent_to_an_address_that_none_was_named_for(
        self, canned: Serve, protocol: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-the-users-own-key")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-the-users-own-key")
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-the-users-own-key")
        server = canned(completion(protocol=protocol))
        ask(at(server.url, protocol), "hello")
        assert "users-own-key" not in str(server.headers)

    def test_a_retired_model_is_asked_for_all_the_same_and_the_error_says_since_when(
        self, canned: Serve, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server = canned(Answer({"error": {"message": "model not found"}}, status=404))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-unused-here")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        from pytest_mlab.llm import connect

        with pytest.raises(UnknownModel, match="OpenAI announced its end for 2026-10-23"):
            ask(connect(lookup("gpt-4")), "hello")
        assert server.requests[0]["model"] == "gpt-4"


class TestRetries:
    """They are the SDKs' own, and end with the time there is."""

    def test_a_hiccup_goes_unnoticed(self, canned: Serve, protocol: str) -> None:
        soon = {"retry-after-ms": "1"}
        server = canned(
            Answer({}, status=529, headers=soon),
            Answer({}, status=429, headers=soon),
            completion("Here I am.", protocol),
        )
        assert ask(at(server.url, protocol, retries=5), "hello") == "Here I am."
        assert len(server.requests) == 3

    def test_a_key_that_is_wrong_once_is_wrong_for_good(self, canned: Serve, protocol: str) -> None:
        server = canned(Answer({}, status=401))
        with pytest.raises(InvalidKey):
            ask(at(server.url, protocol, retries=5), "hello")
        assert len(server.requests) == 1

    def test_a_server_that_says_come_back_later_cannot_hold_the_trial(
        self, canned: Serve, protocol: str
    ) -> None:
        server = canned(Answer({}, status=429, headers={"retry-after": "30"}))
        start = time.monotonic()
        with pytest.raises(ConnectionLost, match=r"no answer within 0\.4 s"):
            ask(at(server.url, protocol, retries=5), "hello", seconds=0.4)
        assert time.monotonic() - start < 2

    def test_nothing_is_asked_after_the_time_is_up(self, canned: Serve, protocol: str) -> None:
        server = canned(Answer({}, status=500, headers={"retry-after-ms": "300"}))
        with pytest.raises(ConnectionLost):
            ask(at(server.url, protocol, retries=5), "hello", seconds=0.4)
        asked = len(server.requests)
        time.sleep(1)
        assert len(server.requests) == asked


class TestConnections:
    def test_nobody_listens(self, protocol: str) -> None:
        with pytest.raises(ConnectionLost, match=r"127\.0\.0\.1:9"):
            ask(at("http://127.0.0.1:9", protocol), "hello")

    def test_the_server_hangs_up_in_the_middle(self, canned: Serve, protocol: str) -> None:
        whole = completion("Hello, hello, hello.", protocol)
        server = canned(Answer(whole.body, cut=40))
        with pytest.raises(ConnectionLost):
            ask(at(server.url, protocol), "hello")

    def test_the_server_says_nothing_for_too_long(self, canned: Serve, protocol: str) -> None:
        server = canned(Answer(completion(protocol=protocol).body, delay=3))
        with pytest.raises(ConnectionLost):
            ask(at(server.url, protocol), "hello", seconds=0.3)

    def test_the_server_trickles(self, canned: Serve, protocol: str) -> None:
        """Each byte comes in time: no time-out of an SDK's ends such an answer."""
        server = canned(Answer(completion(protocol=protocol).body, trickle=0.05))
        start = time.monotonic()
        with pytest.raises(ConnectionLost, match=r"no answer within 0\.5 s"):
            ask(at(server.url, protocol), "hello", seconds=0.5)
        assert time.monotonic() - start < 2


class TestAnswers:
    @pytest.mark.parametrize(
        "body",
        [
            b'{"choices": [{"message"',
            b"<html>502 behind a 200</html>",
            b"",
            b"null",
            b"[]",
            b"{}",
            b'"a string"',
            b'{"choices": [], "content": null}',
            b'{"error": {"message": "provider returned error", "code": 502}}',
        ],
    )
    def test_one_that_is_not_of_the_protocol(
        self, canned: Serve, protocol: str, body: bytes
    ) -> None:
        server = canned(Answer(body))
        with pytest.raises(BadAnswer, match="a-model"):
            ask(at(server.url, protocol), "hello")

    def test_a_web_page_is_no_answer(self, canned: Serve, protocol: str) -> None:
        server = canned(Answer(b"<html>Log in</html>", headers={"content-type": "text/html"}))
        with pytest.raises(BadAnswer):
            ask(at(server.url, protocol), "hello")

    def test_an_empty_one_is_one(self, fakellm: str, protocol: str) -> None:
        reply = at(fakellm, protocol).complete(Request(messages=(Message.user("say nothing"),)))
        assert (reply.text, reply.stop, reply.tool_calls) == ("", "end", ())

    def test_a_declined_prompt_is_a_reply(self, canned: Serve) -> None:
        """Azure's way: a 400 whose code says that the content filter did it."""
        error = {"message": "The prompt was filtered.", "code": "content_filter"}
        server = canned(Answer({"error": error}, status=400))
        reply = at(server.url, "openai").complete(Request(messages=(Message.user("hello"),)))
        assert reply.stop == "filtered"
        assert "The prompt was filtered." in reply.text

    def test_text_that_cannot_be_sent_is_told_to_the_agent(
        self, canned: Serve, protocol: str
    ) -> None:
        server = canned(completion(protocol=protocol))
        with pytest.raises(RequestError, match="cannot be sent"):
            ask(at(server.url, protocol), "half a pair: \ud83d")
