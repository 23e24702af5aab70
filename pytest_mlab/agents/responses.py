"""What a language model answers in entries, read: which action, with which arguments.

    Thought: The tree is too small.
    Action: Execute Script
    Action Input: {"script_name": "train.py"}

Models write that in bold, with headings, in fences, with missing entries and with an imagined
observation behind it. Whatever names one of the actions and gives its arguments is understood; of
several actions the first is taken.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pytest_mlab.actions import Action
from pytest_mlab.agents.lenient import LenientError, read_object

ACTION = "Action"
INPUT = "Action Input"
OBSERVATION = "Observation"
ENTRIES = (
    "Reflection",
    "Research Plan and Status",
    "Fact Check",
    "Thought",
    ACTION,
    INPUT,
)
"""The entries of an answer, in the paper's order."""


class ResponseError(ValueError):
    """An answer holds no action that can be done; the message is for the model."""


@dataclass(frozen=True)
class Response:
    """An answer: its entries of prose, the action's name, and its arguments."""

    entries: Mapping[str, str]
    action: str
    arguments: Mapping[str, Any]

    def text(self) -> str:
        """Give the answer in the form it should have had."""
        prose = [f"{name}: {text}\n" for name, text in self.entries.items()]
        arguments = json.dumps(self.arguments, ensure_ascii=False, indent=2)
        return "".join([*prose, f"{ACTION}: {self.action}\n", f"{INPUT}: {arguments}"])


_NAMES = "|".join(re.escape(name) for name in sorted((*ENTRIES, OBSERVATION), key=len)[::-1])
_HEADING = re.compile(
    rf"^(?P<marks>[ \t>*_#`\[\d.)•-]*)(?P<name>{_NAMES})(?P<closing>[*_\]`]*)"
    rf"[^\S\n]*(?:(?P<colon>[:：])[*_`]*|(?P<end>$))",
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True)
class _Entry:
    name: str
    start: int
    body: int


def parse_response(text: str, actions: Sequence[Action]) -> Response:
    """Read an answer that should name one of the actions; raises `ResponseError` only."""
    headings = _find_headings(text)
    problem = f"There is no entry `{ACTION}:`."
    for index, heading in enumerate(headings):
        if heading.name != ACTION:
            continue
        following = headings[index + 1 :]
        end = following[0].start if following else len(text)
        action = _find_action(text[heading.body : end], actions)
        if action is None:
            names = ", ".join(action.name for action in actions)
            said = _strip_marks(text[heading.body : end].strip().partition("\n")[0])
            problem = f'There is no action "{said:.100}". The actions are: {names}.'
            continue
        arguments = _read_arguments(text, heading, following, action)
        if arguments is not None:
            return Response(_read_prose(text, headings[: index + 1]), action.name, arguments)
        problem = f"There is no {INPUT} as a JSON object; {action.usage()}."
    whole = _read_whole(text, actions)
    if whole is None:
        raise ResponseError(problem)
    return whole


def _read_whole(text: str, actions: Sequence[Action]) -> Response | None:
    """Read an answer that is one JSON object, with the entries for keys."""
    brace = text.find("{")
    try:
        entries = read_object(text, brace)[0] if brace >= 0 else {}
    except LenientError:
        return None
    action = _find_action(str(entries.get(ACTION, "")), actions)
    arguments = entries.get(INPUT)
    if action is None or not isinstance(arguments, dict):
        return None
    prose = {name: str(entries[name]) for name in ENTRIES[:-2] if name in entries}
    return Response(prose, action.name, arguments)


def _find_headings(text: str) -> list[_Entry]:
    names = {name.lower(): name for name in (*ENTRIES, OBSERVATION)}
    found = []
    for match in _HEADING.finditer(text):
        # A line that consists of a name is a heading only if it is marked as one.
        if match["colon"] or match["closing"] or "#" in match["marks"]:
            found.append(_Entry(names[match["name"].lower()], match.start(), match.end()))
    return found


def _find_action(body: str, actions: Sequence[Action]) -> Action | None:
    """Find the action that a text begins with; the longest name counts."""
    said = _normalise(body.strip().lstrip("*_`\"'[#> \n"))
    found = [action for action in actions if _begins(said, _normalise(action.name))]
    if found:
        return max(found, key=lambda action: len(action.name))
    first = _normalise(_strip_marks(body.strip().partition("\n")[0].partition("{")[0]))
    short = [action for action in actions if _normalise(action.name) == f"{first} (ai)"]
    return short[0] if short else None


def _begins(said: str, name: str) -> bool:
    rest = said.removeprefix(name)
    return rest != said and not rest[:1].isalnum() and not rest.startswith(" (")


def _normalise(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().lower()


def _strip_marks(text: str) -> str:
    return text.strip().strip("*_`\"'[].:").strip()


def _read_arguments(
    text: str, heading: _Entry, following: Sequence[_Entry], action: Action
) -> Mapping[str, Any] | None:
    """Read the object behind an action's name, or the plain text of an action's one argument.

    `None` where there is neither; raises `ResponseError` where it cannot be read.
    """
    start, end = heading.body, len(text)
    for index, entry in enumerate(following):
        if entry.name == INPUT:
            start = entry.body
            following = following[index + 1 :]
            break
        if entry.name in {ACTION, OBSERVATION}:
            end = entry.start
            break
    brace = text.find("{", start, end)
    if brace >= 0 and _is_near(text[start:brace], with_name=start == heading.body):
        try:
            return _check(read_object(text, brace)[0], action)
        except LenientError as error:
            raise ResponseError(
                f"The {INPUT} cannot be read: {error}. Write it as JSON; {action.usage()}."
            ) from None
    stop = min((entry.start for entry in following), default=end)
    plain = _plain_text(text[start : min(stop, end)])
    if start != heading.body and plain and len(action.arguments) == 1:
        return {action.arguments[0].name: plain}
    return None


def _is_near(between: str, *, with_name: bool) -> bool:
    """Tell whether a brace follows upon its entry, with but a fence or a name between."""
    return with_name or not re.sub(r"```\w*|~~~\w*|[*_`]|\bjson\b", "", between).strip()


def _check(arguments: Mapping[str, Any], action: Action) -> Mapping[str, Any]:
    """Take an object's arguments out of a wrapping that repeats the action's name."""
    names = {argument.name for argument in action.arguments}
    for wrapping in ("arguments", "input", "action_input", INPUT, "parameters", action.name):
        inner = arguments.get(wrapping)
        if isinstance(inner, dict) and names.isdisjoint(arguments) and names & inner.keys():
            return inner
    return arguments


def _plain_text(text: str) -> str:
    text = re.sub(r"^\s*```\w*\n|\n```\s*$", "", text.strip())
    text = text.strip().strip("`").strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return text


def _read_prose(text: str, headings: Sequence[_Entry]) -> dict[str, str]:
    """Give the entries before the action; of one that comes twice, the last."""
    prose = {}
    for entry, following in pairwise(headings):
        if entry.name not in {ACTION, INPUT, OBSERVATION}:
            prose[entry.name] = text[entry.body : following.start].strip()
    return {name: prose[name] for name in ENTRIES if name in prose}
