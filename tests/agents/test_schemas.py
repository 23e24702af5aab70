"""Actions as tools, and answers as a form."""

import json

import jsonschema
import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.agents.responses import ENTRIES, parse_response
from pytest_mlab.agents.schemas import form_of, tool_name, tool_of
from pytest_mlab.llm_actions import LLM_ACTIONS

EVERY = (*ACTIONS, *LLM_ACTIONS)
PROSE = dict.fromkeys(ENTRIES[:-2], "So be it.")
RUN = {**PROSE, "Action": "Execute Script", "Action Input": {"script_name": "train.py"}}


def test_each_tool_has_a_name_of_its_own_that_providers_take() -> None:
    names = [tool_name(action) for action in EVERY]
    assert len(set(names)) == len(EVERY)
    assert all(name.replace("_", "").isalnum() and len(name) < 64 for name in names)
    assert tool_name(LLM_ACTIONS[1]) == "edit_script_ai"


def test_a_tools_schema_is_what_the_action_takes() -> None:
    for action in EVERY:
        schema = tool_of(action).parameters
        jsonschema.Draft202012Validator.check_schema(schema)
        arguments = {
            argument.name: "x" if argument.kind is str else 1 for argument in action.arguments
        }
        jsonschema.validate(arguments, schema)
        assert action.check(arguments) == arguments


def test_a_filled_form_is_an_answer() -> None:
    form = form_of(ENTRIES, EVERY)
    jsonschema.validate(RUN, form)
    written = "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in RUN.items()
    )
    response = parse_response(written, EVERY)
    assert (response.entries, response.action) == (PROSE, "Execute Script")


@pytest.mark.parametrize(
    "change",
    [
        {"Action": "Dance"},
        {"Action": "List Files"},
        {"Action Input": {}},
        {"Action Input": {"script_name": 1}},
        {"Thought": ""},
        {"More": "x"},
    ],
)
def test_a_form_holds_to_valid_actions(change: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**RUN, **change}, form_of(ENTRIES, EVERY))
