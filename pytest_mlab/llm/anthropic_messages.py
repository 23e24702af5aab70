"""Anthropic's messages, which llama.cpp's server speaks too."""

import functools
import json
from typing import Any

from pytest_mlab.llm import forms
from pytest_mlab.llm.errors import BadAnswer
from pytest_mlab.llm.messages import Message, Reply, Request, StopReason, ToolCall
from pytest_mlab.llm.prices import cost_of
from pytest_mlab.llm.provider import Provider, forbid_late_requests
from pytest_mlab.llm.secrets import scrub
from pytest_mlab.results import Usage

NATIVE = "anthropic-messages"
ANSWER = "answer"
"""The tool that a model is made to call where it can be held to a schema in no other way."""

_STOPS: dict[str, StopReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop-sequence",
    "tool_use": "tool",
    "refusal": "refused",
}
_CACHE = {"type": "ephemeral"}


class AnthropicMessages(Provider):
    """A model behind ``/v1/messages``."""

    url_variable = "ANTHROPIC_BASE_URL"

    @staticmethod
    @functools.cache
    def connect(base_url: str | None, key: str, retries: int) -> Any:
        import anthropic

        client = anthropic.Anthropic(
            base_url=base_url,
            api_key=key,
            max_retries=retries,
            http_client=anthropic.DefaultHttpxClient(
                event_hooks={"request": [forbid_late_requests]}
            ),
        )
        client.auth_token = None  # older SDKs send ANTHROPIC_AUTH_TOKEN along, wherever it goes
        return client

    def ask(self, body: dict[str, Any], timeout: float) -> Any:
        from anthropic.types import Message as Answer

        # Not `create`: it has no temperature any more, since today's models do not take it, and
        # warns of models whose end is announced, as the provider's 404 and `Spec.note` do.
        return self.client.post(
            "/v1/messages", cast_to=Answer, body=body, options={"timeout": timeout}
        )

    def write(self, request: Request) -> dict[str, Any]:
        spec, traits = self.spec, self.spec.traits
        body: dict[str, Any] = {
            "model": spec.model,
            "max_tokens": traits.output_limit(request.max_tokens),
            "messages": _messages(request),
        }
        if request.system:
            # What stands before a mark is kept: here the tools and the system prompt.
            body["system"] = [{"type": "text", "text": request.system, "cache_control": _CACHE}]
        if request.temperature is not None and traits.temperature:
            body["temperature"] = min(request.temperature, 1.0)
        if request.stop and traits.stop:
            body["stop_sequences"] = list(request.stop)
        if request.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": dict(forms.parameters_of(spec, tool)),
                }
                for tool in request.tools
            ]
            choice = forms.tool_choice(spec, request)
            body["tool_choice"] = {"type": "any" if choice == "required" else choice}
        schema = forms.schema_of(spec, request)
        if schema is not None and self._answers_by_tool(request):
            body["tools"] = [
                {"name": ANSWER, "description": "Give the answer.", "input_schema": dict(schema)}
            ]
            body["tool_choice"] = {"type": "any"}
        elif schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(schema)}}
        return body

    def read(self, request: Request, answer: Any, seconds: float) -> Reply:
        content = getattr(answer, "content", None)
        if not isinstance(content, list):
            said = scrub(str(answer))[:500]
            raise BadAnswer(f"{self.name}: the answer holds no content: {said}")
        text = "".join(block.text for block in content if block.type == "text")
        calls = tuple(
            ToolCall(block.id, block.name, json.dumps(block.input, ensure_ascii=False))
            for block in content
            if block.type == "tool_use"
        )
        stop = _STOPS.get(answer.stop_reason or "", "end")
        if stop == "end" and answer.stop_sequence:
            stop = "stop-sequence"
        if calls and self._answers_by_tool(request):
            text, calls, stop = calls[0].arguments, (), "end"
        thinks = any(block.type not in {"text", "tool_use"} for block in content)
        blocks = [block.model_dump(mode="json", exclude_none=True) for block in content]
        return Reply(
            text=forms.write_out(self.spec, request, text),
            stop=stop,
            tool_calls=calls,
            usage=self._usage(getattr(answer, "usage", None)),
            model=answer.model or "",
            seconds=seconds,
            native={NATIVE: blocks} if thinks else None,
        )

    def _answers_by_tool(self, request: Request) -> bool:
        """Say whether the answer's form is a tool: models that take ``output_config`` think."""
        held = forms.schema_of(self.spec, request) is not None
        return held and not request.tools and self.spec.traits.forced_tools

    def _usage(self, usage: Any) -> Usage:
        """Add up the API's figures: it leaves what the cache read and wrote out of the input."""
        if usage is None:
            return Usage()
        cached = usage.cache_read_input_tokens or 0
        written = usage.cache_creation_input_tokens or 0
        read = (usage.input_tokens or 0) + cached + written
        cost = cost_of(
            self.spec,
            input_tokens=read,
            output_tokens=usage.output_tokens or 0,
            cached_tokens=cached,
            written_tokens=written,
        )
        return Usage(read, usage.output_tokens or 0, cached, cost)


def _messages(request: Request) -> list[dict[str, Any]]:
    """Put messages of one role together: all results of a turn's tools belong into one."""
    merged: list[dict[str, Any]] = []
    for message in request.messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += blocks
        elif blocks:  # the API takes no empty message, though its model may write one
            merged.append({"role": role, "content": blocks})
    # A lone message changes from request to request: to keep it would cost, and serve nobody.
    if len(merged) > 1:
        merged[-1]["content"][-1]["cache_control"] = _CACHE
    return merged


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message.native and NATIVE in message.native:
        return [dict(block) for block in message.native[NATIVE]]
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [result | ({"is_error": True} if message.failed else {})]
    said = [{"type": "text", "text": message.text}] if message.text else []
    called = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)}
        for call in message.tool_calls
    ]
    return said + called


def _input(call: ToolCall) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except json.JSONDecodeError:  # of another provider's model
        return {"arguments": call.arguments}
