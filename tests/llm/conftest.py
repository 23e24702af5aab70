"""Language models to ask: over either SDK, at servers of others and at canned ones."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from pytest_mlab.llm import LLM, Message, Request, lookup
from pytest_mlab.llm.anthropic_messages import AnthropicMessages
from pytest_mlab.llm.openai_chat import OpenAIChat
from pytest_mlab.llm.provider import Provider
from tests.llm.servers import Answer, Canned, serve_canned, serve_fakellm

PROTOCOLS = ("openai", "anthropic")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on, or spend, what its user has in the environment."""
    for vendor in ("OPENAI", "ANTHROPIC", "GEMINI", "OPENROUTER"):
        monkeypatch.delenv(f"{vendor}_API_KEY", raising=False)
        monkeypatch.delenv(f"{vendor}_BASE_URL", raising=False)


@pytest.fixture(scope="session")
def fakellm() -> Iterator[str]:
    """Give the address of a scripted server that this project did not write."""
    with serve_fakellm() as url:
        yield url


@pytest.fixture
def canned() -> Iterator[Callable[..., Canned]]:
    """Give a function that serves the answers it is given."""
    with ExitStack() as stack:
        yield lambda *answers: stack.enter_context(serve_canned(*answers))


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    """Give one of the two SDKs' protocols."""
    return str(request.param)


def at(url: str, protocol: str, model: str = "a-model", *, retries: int = 0) -> Provider:
    """Give the model of that name at a server, over one of the SDKs."""
    if protocol == "openai":
        return OpenAIChat(lookup(f"openai:{model}@{url}/v1"), retries=retries)
    return AnthropicMessages(lookup(f"anthropic:{model}@{url}"), retries=retries)


def ask(llm: LLM, text: str, *, seconds: float | None = 30) -> str:
    """Ask one question and give the answer's text."""
    return llm.complete(Request(messages=(Message.user(text),), seconds=seconds)).text


def completion(text: str = "Hello.", protocol: str = "openai") -> Answer:
    """Give the least of an answer that each protocol allows."""
    if protocol == "openai":
        message = {"role": "assistant", "content": text}
        return Answer(
            {
                "model": "a-model",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }
        )
    return Answer(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "a-model",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "output_tokens": 2},
        }
    )
