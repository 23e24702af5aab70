"""What goes to a language model and what comes back: the same records for every provider."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from pytest_mlab.exceptions import ActionError
from pytest_mlab.results import Usage

Role = Literal["user", "assistant", "tool"]
StopReason = Literal["end", "length", "stop-sequence", "tool", "refused", "filtered"]


@dataclass(frozen=True)
class Tool:
    """A function that the model may call; ``parameters`` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """One call that the model asks for; ``arguments`` is JSON text just as the model wrote it."""

    id: str
    name: str
    arguments: str

    def parse(self) -> dict[str, Any]:
        """Give the arguments as a dict.

        Models do write broken JSON, above all where ``max_tokens`` cut them off: that raises
        `ActionError`, whose message is for the model.
        """
        try:
            arguments = json.loads(self.arguments or "{}")
        except json.JSONDecodeError as error:
            raise ActionError(f"The arguments of {self.name} are not valid JSON: {error}") from None
        if not isinstance(arguments, dict):
            raise ActionError(f"The arguments of {self.name} must be a JSON object.")
        return arguments


@dataclass(frozen=True)
class Message:
    """One turn of a conversation; build one with `user`, `assistant` or `tool_result`.

    ``tool_calls`` belongs to the assistant; ``call_id`` (the `ToolCall.id` that it answers) and
    ``failed`` to a tool's result. ``native`` is what one provider wants back untouched (thinking
    blocks, thought signatures), under the name of its wire protocol; `Reply.message` fills it in.
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    failed: bool = False
    native: Mapping[str, Any] | None = None

    @classmethod
    def user(cls, text: str) -> Self:
        """Give a message of the user's."""
        return cls("user", text)

    @classmethod
    def assistant(cls, text: str, tool_calls: tuple[ToolCall, ...] = ()) -> Self:
        """Give a message of the model's."""
        return cls("assistant", text, tool_calls)

    @classmethod
    def tool_result(cls, call_id: str, text: str, *, failed: bool = False) -> Self:
        """Give the answer to a tool call; every call of a turn needs one before the next turn."""
        return cls("tool", text, call_id=call_id, failed=failed)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What an LLM is asked.

    ``temperature`` and ``stop`` are hints: they are sent only to models that take them.
    ``max_tokens`` bounds what the model writes, its reasoning included. ``json_schema`` makes the
    text of the answer JSON of that schema. ``form`` is a hint for models too small to keep to the
    instructions: the schema of a JSON object whose properties are the entries of the answer. Only
    `local` is held to it, and its answer is written out as ``Name: value``, an entry a line (values
    that are no strings as JSON), so that an agent which reads such entries may always give it.
    ``tool_choice`` says whether the model must call a tool. ``seconds`` is how long the answer may
    take in all, retries included; the harness lowers it to what remains of the trial.
    """

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[Tool, ...] = ()
    tool_choice: Literal["auto", "required", "none"] = "auto"
    stop: tuple[str, ...] = ()
    temperature: float | None = None
    max_tokens: int = 2000
    json_schema: Mapping[str, Any] | None = None
    form: Mapping[str, Any] | None = None
    seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the request as JSON values, without ``seconds`` and all that is not set."""
        fields = {name: value for name, value in _set_fields(self).items() if name != "seconds"}
        return fields | {"messages": [_set_fields(message) for message in self.messages]}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What an LLM answered.

    ``stop`` says why it ended: ``end`` (it was done; providers that do not tell a stop sequence
    from that say ``end`` too), ``length`` (``max_tokens`` cut it off), ``stop-sequence``, ``tool``
    (it wants ``tool_calls`` done), ``refused`` (the model will not; ``text`` is what it says) or
    ``filtered`` (the provider withheld the answer or declined the prompt). ``usage`` is in the
    provider's own figures, ``model`` the name that it reported, ``seconds`` wall time with retries.
    """

    text: str
    stop: StopReason = "end"
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    seconds: float = 0.0
    native: Mapping[str, Any] | None = None

    def message(self) -> Message:
        """Give the reply as a message, to be sent back as a part of the next request."""
        return Message("assistant", self.text, self.tool_calls, native=self.native)

    def to_dict(self) -> dict[str, Any]:
        """Give the reply as JSON values; `from_dict` takes it back."""
        return _set_fields(self) | {"text": self.text, "usage": dataclasses.asdict(self.usage)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave."""
        calls = tuple(ToolCall(**call) for call in record.get("tool_calls", ()))
        usage = Usage(**record.get("usage", {}))
        return cls(**{**record, "tool_calls": calls, "usage": usage})


def _set_fields(record: Any) -> dict[str, Any]:
    """Give the fields of a dataclass that differ from their defaults, for short records."""
    fields = {}
    for entry in dataclasses.fields(record):
        value = getattr(record, entry.name)
        if value == entry.default:
            continue
        if isinstance(value, tuple):
            value = [
                dict(vars(item)) if isinstance(item, (Tool, ToolCall)) else item for item in value
            ]
        fields[entry.name] = value
    return fields
