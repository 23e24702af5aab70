"""Language models that answer by a script, over HTTP, in either SDK's protocol."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.llm.servers import Answer

INPUT_TOKENS, OUTPUT_TOKENS = 100, 20


@dataclass(frozen=True)
class Said:
    """One answer: text, calls of tools by name and arguments, and why it ended if not by itself."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    stop: str = ""


def call(name: str, /, **arguments: Any) -> Said:
    """Give an answer that calls one tool."""
    return Said(calls=((name, arguments),))


def step(action: str, /, **arguments: Any) -> Said:
    """Give an answer in entries."""
    return Said(
        "Reflection: It is clear.\nResearch Plan and Status: Go on.\nFact Check: Nothing new.\n"
        f"Thought: Next.\nAction: {action}\nAction Input: {json.dumps(arguments)}"
    )


def code(text: str) -> Said:
    """Give an answer that is a script."""
    return Said(f"Here it is:\n\n```python\n{text.rstrip()}\n```\n")


def speak(said: Said, protocol: str) -> Answer:
    """Put an answer into a protocol's words."""
    return Answer(_chat(said) if protocol == "openai" else _message(said))


def name_llm(url: str, protocol: str) -> str:
    """Give the name by which the command line asks a server."""
    return f"openai:scripted@{url}/v1" if protocol == "openai" else f"anthropic:scripted@{url}"


def _chat(said: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(said.calls)
        ]
    finish = said.stop or ("tool_calls" if said.calls else "stop")
    return {
        "id": "chat",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        },
    }


def _message(said: Said) -> dict[str, Any]:
    text = [{"type": "text", "text": said.text}] if said.text else []
    calls = [
        {"type": "tool_use", "id": f"call_{number}", "name": name, "input": dict(arguments)}
        for number, (name, arguments) in enumerate(said.calls)
    ]
    return {
        "id": "message",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": text + calls,
        "stop_reason": said.stop or ("tool_use" if said.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }
