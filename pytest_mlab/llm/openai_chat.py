"""OpenAI's chat completions, which most other providers and local servers speak too."""

from collections.abc import Iterator
from typing import Any

from pytest_mlab.llm import forms
from pytest_mlab.llm.catalog import Spec
from pytest_mlab.llm.errors import BadAnswer
from pytest_mlab.llm.messages import Message, Reply, Request, StopReason, ToolCall
from pytest_mlab.llm.openai_sdk import OpenAIProvider
from pytest_mlab.llm.prices import cost_of
from pytest_mlab.llm.secrets import scrub
from pytest_mlab.results import Usage

NATIVE = "openai-chat"

_STOPS: dict[str, StopReason] = {
    "length": "length",
    "tool_calls": "tool",
    "function_call": "tool",
    "content_filter": "filtered",
}
_PLAIN = {"role", "content", "tool_calls", "refusal", "annotations", "audio", "function_call"}
_PLAIN_CALL = {"id", "type", "function", "index"}


class OpenAIChat(OpenAIProvider):
    """A model behind ``/chat/completions``."""

    def ask(self, body: dict[str, Any], timeout: float) -> Any:
        from openai.types.chat import ChatCompletion

        # Not `create`: it walks through every message again, 0.3 ms each.
        return self.client.post(
            "/chat/completions", cast_to=ChatCompletion, body=body, options={"timeout": timeout}
        )

    def write(self, request: Request) -> dict[str, Any]:
        spec, traits = self.spec, self.spec.traits
        body: dict[str, Any] = {"model": spec.model, "messages": list(_messages(request))}
        own = spec.provider == "openai" or not traits.stop
        limit = "max_completion_tokens" if own else "max_tokens"
        body[limit] = traits.output_limit(request.max_tokens)
        if request.temperature is not None and traits.temperature:
            body["temperature"] = request.temperature
        if request.stop and traits.stop:
            body["stop"] = list(request.stop)
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(forms.parameters_of(spec, tool)),
                    },
                }
                for tool in request.tools
            ]
            body["tool_choice"] = forms.tool_choice(spec, request)
            if spec.local:
                body["parallel_tool_calls"] = False
        schema = forms.schema_of(spec, request)
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(schema)},
            }
        return body

    def read(self, request: Request, answer: Any, seconds: float) -> Reply:
        choices = getattr(answer, "choices", None)
        if not choices or choices[0].message is None:
            said = scrub(str(answer))[:500]
            raise BadAnswer(f"{self.name}: the answer holds no message: {said}")
        choice, message = choices[0], choices[0].message
        calls = tuple(
            ToolCall(call.id, call.function.name, call.function.arguments or "")
            for call in message.tool_calls or ()
        )
        stop = _STOPS.get(choice.finish_reason or "", "end")
        text = message.content or ""
        if calls and stop == "end":
            stop = "tool"
        if getattr(message, "refusal", None):
            text, stop = message.refusal, "refused"
        return Reply(
            text=forms.write_out(self.spec, request, text),
            stop=stop,
            tool_calls=calls,
            usage=_usage(self.spec, getattr(answer, "usage", None)),
            model=answer.model or "",
            seconds=seconds,
            native=_native(message),
        )


def _messages(request: Request) -> Iterator[dict[str, Any]]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        yield _message(message)


def _message(message: Message) -> dict[str, Any]:
    if message.native and NATIVE in message.native:
        return dict(message.native[NATIVE])
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if not message.tool_calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments or "{}"},
        }
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _native(message: Any) -> dict[str, Any] | None:
    """Keep a message whole if it holds what only its provider understands."""
    whole = message.model_dump(mode="json", exclude_none=True)
    own = whole.keys() - _PLAIN
    own |= {key for call in whole.get("tool_calls", ()) for key in call.keys() - _PLAIN_CALL}
    return {NATIVE: whole} if own else None


def _usage(spec: Spec, usage: Any) -> Usage:
    """Read the API's own figures; Gemini counts its thinking in the total only."""
    if usage is None:
        return Usage()
    read = usage.prompt_tokens or 0
    written = max(usage.completion_tokens or 0, (usage.total_tokens or 0) - read)
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    cost = getattr(usage, "cost", None)  # OpenRouter says what it charged
    if not isinstance(cost, int | float):
        cost = cost_of(spec, input_tokens=read, output_tokens=written, cached_tokens=cached)
    return Usage(read, written, cached, float(cost))
