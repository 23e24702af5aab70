"""OpenAI's responses: where its models that think take tools."""

from typing import Any

from pytest_mlab.llm import forms
from pytest_mlab.llm.errors import BadAnswer
from pytest_mlab.llm.messages import Message, Reply, Request, StopReason, ToolCall
from pytest_mlab.llm.openai_sdk import OpenAIProvider
from pytest_mlab.llm.prices import cost_of
from pytest_mlab.llm.provider import Provider
from pytest_mlab.llm.secrets import scrub
from pytest_mlab.results import Usage

NATIVE = "openai-responses"


class OpenAIResponses(OpenAIProvider):
    """A model behind ``/responses``; the conversation is sent anew each time, nothing is stored."""

    def ask(self, body: dict[str, Any], timeout: float) -> Any:
        from openai.types.responses import Response

        return self.client.post(
            "/responses", cast_to=Response, body=body, options={"timeout": timeout}
        )

    def write(self, request: Request) -> dict[str, Any]:
        spec, traits = self.spec, self.spec.traits
        body: dict[str, Any] = {
            "model": spec.model,
            "input": [item for message in request.messages for item in _items(message)],
            "max_output_tokens": traits.output_limit(request.max_tokens),
            "store": False,
        }
        if traits.thinks:
            body["include"] = ["reasoning.encrypted_content"]
        if request.system:
            body["instructions"] = request.system
        if request.temperature is not None and traits.temperature:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                    "strict": False,
                }
                for tool in request.tools
            ]
            body["tool_choice"] = forms.tool_choice(spec, request)
        if request.json_schema is not None:
            schema = dict(request.json_schema)
            body["text"] = {
                "format": {
                    "type": "json_schema",
                    "name": "answer",
                    "schema": schema,
                    "strict": False,
                }
            }
        return body

    def read(self, request: Request, answer: Any, seconds: float) -> Reply:
        output = getattr(answer, "output", None)
        if output is None or answer.status == "failed":
            said = scrub(str(getattr(answer, "error", None) or answer))[:500]
            raise BadAnswer(f"{self.name}: the answer holds no output: {said}")
        parts = [part for item in output if item.type == "message" for part in item.content]
        refusal = "".join(part.refusal for part in parts if part.type == "refusal")
        calls = tuple(
            ToolCall(item.call_id, item.name, item.arguments)
            for item in output
            if item.type == "function_call"
        )
        items = [item.model_dump(mode="json", exclude_none=True) for item in output]
        return Reply(
            text=refusal or "".join(part.text for part in parts if part.type == "output_text"),
            stop="refused" if refusal else _stop(answer, has_calls=bool(calls)),
            tool_calls=calls,
            usage=_usage(self, answer.usage),
            model=answer.model or "",
            seconds=seconds,
            native={NATIVE: items} if any(item.type == "reasoning" for item in output) else None,
        )


def _items(message: Message) -> list[dict[str, Any]]:
    if message.native and NATIVE in message.native:
        return list(message.native[NATIVE])
    if message.role == "tool":
        return [
            {"type": "function_call_output", "call_id": message.call_id, "output": message.text}
        ]
    said = [{"role": message.role, "content": message.text}] if message.text else []
    called = [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments or "{}",
        }
        for call in message.tool_calls
    ]
    return said + called


def _stop(answer: Any, *, has_calls: bool) -> StopReason:
    details = getattr(answer, "incomplete_details", None)
    if answer.status == "incomplete":
        return "filtered" if getattr(details, "reason", "") == "content_filter" else "length"
    return "tool" if has_calls else "end"


def _usage(provider: Provider, usage: Any) -> Usage:
    if usage is None:
        return Usage()
    details = getattr(usage, "input_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    cost = cost_of(provider.spec, input_tokens=read, output_tokens=written, cached_tokens=cached)
    return Usage(read, written, cached, cost)
