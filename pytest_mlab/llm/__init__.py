"""Language models: one protocol, one look-up from a name to a model, one file per wire protocol.

    spec = lookup("gpt-4")        # UnknownLLM: no provider goes by that name
    check(spec)                   # MissingKey, Unavailable: before any task runs
    llm = connect(spec)           # loads the provider's SDK
    reply = llm.complete(Request(messages=(Message.user("Hello"),)))

Within a trial nobody calls `connect`'s LLM bare: `pytest_mlab.llm.meter.Meter` puts the trial's
limits, the session's budget and the record in front of it.
"""

import dataclasses
from typing import Protocol

from pytest_mlab.llm.catalog import Spec, check, lookup
from pytest_mlab.llm.messages import Message, Reply, Request, StopReason, Tool, ToolCall

__all__ = [
    "LLM",
    "Message",
    "Reply",
    "Request",
    "Spec",
    "StopReason",
    "Tool",
    "ToolCall",
    "check",
    "connect",
    "lookup",
]


class LLM(Protocol):
    """A language model that answers; ``name`` is what the user called it."""

    @property
    def name(self) -> str:
        """The name that `lookup` was given."""

    def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises `RequestError` (`TooLong`) where another request may do, `ProviderError` where the
        provider failed, and `LimitReached` where time, tokens or cost of the trial are used up;
        `pytest_mlab.llm.errors` draws them all.
        """


def connect(spec: Spec, *, task: str = "", agent: str = "", trial: int = 0) -> LLM:
    """Make the LLM that ``spec`` describes; only now is a provider's SDK imported.

    ``task``, ``agent`` and ``trial`` say whose answers a ``replay:`` plays back. A trial connects
    each name once and shares the LLM between its roles: a replay is one sequence.
    """
    if spec.protocol == "own":
        assert spec.own is not None, f"{spec.name}: protocol 'own' needs Spec.own"
        return spec.own(spec)
    if spec.protocol == "replay":
        from pytest_mlab.llm.replay import Replay

        return Replay(spec, task=task, agent=agent, trial=trial)
    if spec.local:
        from pytest_mlab.llm.local import serve

        chat = spec.protocol == "openai-chat"
        spec = dataclasses.replace(spec, base_url=serve() + ("/v1" if chat else ""))
    if spec.protocol == "anthropic-messages":
        from pytest_mlab.llm.anthropic_messages import AnthropicMessages

        return AnthropicMessages(spec)
    if spec.protocol == "openai-responses":
        from pytest_mlab.llm.openai_responses import OpenAIResponses

        return OpenAIResponses(spec)
    from pytest_mlab.llm.openai_chat import OpenAIChat

    return OpenAIChat(spec)
