"""Answers in a given form: tool calls, JSON of a schema, or labelled entries written out of it."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pytest_mlab.llm.catalog import Spec
from pytest_mlab.llm.messages import Request, Tool

LOCAL_STRING = 160
"""Characters of a string that the local model is let write where the schema sets no limit: it
hardly ever ends one by itself."""


def schema_of(spec: Spec, request: Request) -> Mapping[str, Any] | None:
    """Give the schema that the answer is held to, None where there is none."""
    schema = request.form if _takes_form(spec, request) else request.json_schema
    return _bound(schema) if spec.local and schema is not None else schema


def parameters_of(spec: Spec, tool: Tool) -> Mapping[str, Any]:
    """Give the schema of a tool's arguments."""
    bound: Mapping[str, Any] = _bound(tool.parameters) if spec.local else tool.parameters
    return bound


def tool_choice(spec: Spec, request: Request) -> Literal["auto", "required", "none"]:
    """Give how far the model may choose; the local one is held to call a tool, if it may at all."""
    if spec.local and request.tool_choice == "auto":
        return "required"
    if request.tool_choice == "required" and not spec.traits.forced_tools:
        return "auto"
    return request.tool_choice


def write_out(spec: Spec, request: Request, text: str) -> str:
    """Give a `Request.form`'s answer as an agent expects it: ``Name: value``, an entry a line.

    An answer that was cut off is no JSON, and comes back as it is.
    """
    if not _takes_form(spec, request):
        return text
    try:
        entries = json.loads(text)
    except json.JSONDecodeError:
        return text
    if not isinstance(entries, dict):
        return text
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in entries.items()
    )


def _takes_form(spec: Spec, request: Request) -> bool:
    """Say whether the form counts; tools are a form of their own."""
    return spec.local and request.form is not None and not request.tools


def _bound(schema: Any) -> Any:
    """Give a schema in which every string has an end."""
    if isinstance(schema, list):
        return [_bound(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    bound = {name: _bound(part) for name, part in schema.items()}
    if bound.get("type") == "string" and not bound.keys() & {"enum", "const", "pattern"}:
        bound.setdefault("maxLength", LOCAL_STRING)
    return bound
