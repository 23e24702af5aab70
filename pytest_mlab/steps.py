"""What an agent did: its steps, as it sees them itself and as a trace gives them back."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from pytest_mlab.results import Usage


@dataclass(frozen=True)
class Observation:
    """What an action came to; not ``ok`` where it could not be done or what it ran failed."""

    text: str
    ok: bool = True


@dataclass(frozen=True)
class Step:
    """One action and its observation; ``usage`` is of all LLM calls since the step before.

    ``notes`` are what the agent wrote down before it acted: its thought, its plan.
    """

    action: str
    arguments: dict[str, Any]
    observation: Observation
    usage: Usage = field(default_factory=Usage)
    notes: dict[str, Any] = field(default_factory=dict)


def step_from(event: dict[str, Any], notes: dict[str, Any]) -> Step:
    """Read a step's event in a trace, with the notes that came before it."""
    usage = {name: event.get("usage", {}).get(name, 0) for name in _USAGE}
    observation = Observation(event["observation"], event["ok"])
    return Step(event["action"], event["arguments"], observation, Usage(**usage), notes)


_USAGE = tuple(f.name for f in dataclasses.fields(Usage))
