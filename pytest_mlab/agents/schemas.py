"""Actions as a provider's tools, and answers in entries as a JSON schema."""

import re
from collections.abc import Sequence
from typing import Any

from pytest_mlab.actions import Action, Argument
from pytest_mlab.agents.responses import ACTION, INPUT
from pytest_mlab.llm import Tool

_TYPES = {str: "string", int: "integer"}

PROSE = 160
"""Characters that a model which is held to a form may write in one entry, or one argument."""


def tool_name(action: Action) -> str:
    """Give an action's name as providers take it: ``edit_script_ai``."""
    return re.sub(r"[^a-z0-9]+", "_", action.name.lower()).strip("_")


def tool_of(action: Action) -> Tool:
    """Give an action as a tool."""
    arguments = {
        argument.name: {**_type(argument), "description": argument.description}
        for argument in action.arguments
    }
    return Tool(tool_name(action), action.description, _closed(arguments))


def form_of(entries: Sequence[str], actions: Sequence[Action]) -> dict[str, Any]:
    """Give the schema of an answer whose every instance is an action with its own arguments."""
    prose = {
        name: {"type": "string", "minLength": 1, "maxLength": PROSE}
        for name in entries
        if name not in {ACTION, INPUT}
    }
    return {"anyOf": [_answer(prose, action) for action in actions]}


def _answer(prose: dict[str, Any], action: Action) -> dict[str, Any]:
    arguments = action.arguments
    properties = prose | {
        ACTION: {"const": action.name},
        INPUT: _closed({argument.name: _type(argument, maxLength=PROSE) for argument in arguments}),
    }
    return _closed(properties)


def _type(argument: Argument, **more: Any) -> dict[str, Any]:
    return {"type": _TYPES[argument.kind], **(more if argument.kind is str else {})}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
