"""Native tool calling: the actions are the model's tools, the conversation grows until the end."""

import json
from collections.abc import Sequence
from dataclasses import replace

from pytest_mlab.actions import Action
from pytest_mlab.agents.schemas import tool_name, tool_of
from pytest_mlab.asking import clean, cut_middle
from pytest_mlab.environment import Environment
from pytest_mlab.exceptions import ActionError
from pytest_mlab.llm import Message, Reply, Request, ToolCall
from pytest_mlab.llm.errors import TooLong
from pytest_mlab.prompts import fill
from pytest_mlab.steps import Observation, Step

RETRIES = 5
"""Answers in a row without any tool call that can be done, after which it gives up."""
TOKENS = 8000
"""Tokens of one answer: room for a whole script."""
MOST_CHARACTERS = 20_000
"""Characters of an observation that are shown, half of them from its end."""
LEFT_OUT = "(left out here, to make room)"


class ToolsAgent:
    """Lets the model call the actions as its provider's tools, several at once if it likes."""

    name = "tools"
    asks_llm = True
    goes_on = True
    actions = (
        "List Files",
        "Read File",
        "Inspect Script Lines",
        "Write File",
        "Append File",
        "Copy File",
        "Undo Edit Script",
        "Execute Script",
        "Python REPL",
        "Final Answer",
    )

    def run(self, environment: Environment) -> None:
        """Act until the final answer, a limit, or too many answers that call nothing."""
        conversation = _Conversation(environment)
        in_vain = 0
        while in_vain <= RETRIES:
            environment.check_limits()
            reply = conversation.ask()
            done = [conversation.answer(call) for call in reply.tool_calls]
            if any(done):
                in_vain = 0
                continue
            in_vain += 1
            if not reply.tool_calls:
                conversation.say(fill("call_a_tool"))
        environment.give_up(f"{in_vain} answers in a row called no tool that can be called")


class _Conversation:
    def __init__(self, environment: Environment) -> None:
        assert environment.llm is not None, "tools asks an LLM"
        self._llm = environment.llm
        self._environment = environment
        self._actions = {tool_name(action): action for action in environment.actions}
        self._tools = tuple(map(tool_of, self._actions.values()))
        limits = environment.limits
        self._system = fill("tools", steps=limits.steps, seconds=round(limits.seconds))
        self._messages = [Message.user(clean(environment.instruction))]
        for number, step in enumerate(environment.steps):
            self._look_back(f"earlier_{number}", step)

    def ask(self) -> Reply:
        """Ask for the next answer; where all that was said is too long, forget old observations."""
        while True:
            request = Request(
                system=self._system,
                messages=tuple(self._messages),
                tools=self._tools,
                max_tokens=TOKENS,
            )
            try:
                reply = self._llm.complete(request)
            except TooLong:
                if not self._make_room():
                    raise
            else:
                break
        if reply.text or reply.tool_calls:
            self._messages.append(reply.message())
        if reply.text:
            self._environment.note(said=reply.text)
        return reply

    def say(self, text: str) -> None:
        """Say something to the model."""
        self._messages.append(Message.user(text))

    def answer(self, call: ToolCall) -> bool:
        """Do what a call asks for and tell the model; False where the call cannot be read."""
        action = self._actions.get(call.name)
        try:
            arguments = call.parse()
        except ActionError as error:
            usage = f"; {action.usage()}" if action else ""
            text = clean(f"{error}{usage}")
            self._messages.append(Message.tool_result(call.id, text, failed=True))
            return False
        observation = self._do(call.name, action, arguments)
        text = clean(cut_middle(observation.text, MOST_CHARACTERS))
        self._messages.append(Message.tool_result(call.id, text, failed=not observation.ok))
        return True

    def _look_back(self, number: str, step: Step) -> None:
        """Say what was done before an interruption as if it had been said one by one."""
        names = {action.name: name for name, action in self._actions.items()}
        call = ToolCall(number, names.get(step.action, step.action), json.dumps(step.arguments))
        text = clean(cut_middle(step.observation.text, MOST_CHARACTERS))
        self._messages.append(Message.assistant(str(step.notes.get("said", "")), (call,)))
        self._messages.append(Message.tool_result(number, text, failed=not step.observation.ok))

    def _do(self, name: str, action: Action | None, arguments: dict[str, object]) -> Observation:
        if action is not None:
            return self._environment.act(action.name, **arguments)
        observation = self._environment.act(name, **arguments)
        return replace(observation, text=f"There is no tool {name}: {', '.join(self._actions)}.")

    def _make_room(self) -> bool:
        """Leave the older half of the long observations out; False where there is none."""
        long = _find_long(self._messages)
        for index in long[: -(-len(long) // 2)]:
            self._messages[index] = replace(self._messages[index], text=LEFT_OUT)
        return bool(long)


def _find_long(messages: Sequence[Message]) -> list[int]:
    return [
        index
        for index, message in enumerate(messages)
        if message.role == "tool" and len(message.text) > 10 * len(LEFT_OUT)
    ]
