"""The loop of agents that answer in entries: ask, read the answer, act, show what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_mlab.actions import Action
from pytest_mlab.agents.responses import (
    ACTION,
    INPUT,
    OBSERVATION,
    Response,
    ResponseError,
    parse_response,
)
from pytest_mlab.agents.schemas import form_of
from pytest_mlab.asking import clean, cut_middle
from pytest_mlab.environment import Environment
from pytest_mlab.llm import LLM, Message, Request
from pytest_mlab.llm.errors import TooLong
from pytest_mlab.prompts import fill

LONGEST = 5000
"""Characters of an observation above which it is shortened (the paper's)."""
WINDOW = 3
"""Steps that a model is shown word for word (the paper's)."""
RETRIES = 5
"""Times in a row that an answer which holds no action is sent back (the paper's)."""
TEMPERATURE = 0.5
TOKENS = 2000

SHOWN = (
    "List Files",
    "Copy File",
    "Undo Edit Script",
    "Execute Script",
    "Final Answer",
    "Understand File",
    "Inspect Script Lines",
    "Edit Script (AI)",
)
"""The actions that the paper's agents are shown."""

MEANINGS = {
    "Reflection": "what the last observation means; after an error, its cause and its remedy",
    "Research Plan and Status": (
        "the whole plan, with what is done, what is under way and what came of each step; only "
        "what observations have confirmed; new text in **double asterisks**; without news, the "
        "same as before"
    ),
    "Fact Check": (
        "each statement that is new in the plan, and whether the last observation confirms it or "
        "it is a guess; a figure is confirmed only by having been printed"
    ),
    "Thought": "what you do now and why",
    ACTION: "the name of one action",
    INPUT: "its arguments, as a JSON object",
}


@dataclass(frozen=True)
class Turn:
    """One step as the model is shown it: its answer and what came of it."""

    response: Response
    observation: str


class EntriesAgent:
    """Asks for an answer in ``entries``, does its action and goes on, the last steps in view.

    Subclasses say which entries there are, and may prepare an observation or add to a prompt.
    """

    name = "entries"
    asks_llm = True
    goes_on = True
    actions: Sequence[str] = SHOWN
    shown: Sequence[str] = SHOWN
    entries: Sequence[str] = (ACTION, INPUT)
    prompt = "simple"

    def run(self, environment: Environment) -> None:
        """Act until the final answer, a limit, or one answer too many that cannot be read."""
        turns = self.look_back(environment)
        while True:
            environment.check_limits()
            response = _Asker(self, environment).ask(turns, self.recall(environment, turns))
            if response is None:
                environment.give_up(f"{RETRIES + 1} answers in a row held no action")
                return
            environment.note(**response.entries)
            observation = environment.act(response.action, **response.arguments).text
            observation = self.shorten(environment, response, observation)
            turns.append(Turn(response, observation))
            self.keep(environment, turns)

    def look_back(self, environment: Environment) -> list[Turn]:
        """Give the turns of an interrupted trial that is gone on with, from its steps."""
        shown = {action.name for action in self.list_shown(environment)}
        return [
            Turn(
                Response(step.notes, step.action, step.arguments),
                cut_middle(step.observation.text, LONGEST),
            )
            for step in environment.steps
            if step.action in shown
        ]

    def list_shown(self, environment: Environment) -> list[Action]:
        """Give the actions that the model is told of."""
        return [action for action in environment.actions if action.name in self.shown]

    def recall(self, environment: Environment, turns: Sequence[Turn]) -> str:
        """Give what the model is to know of the steps that are out of view; nothing by default."""
        return ""

    def shorten(self, environment: Environment, response: Response, observation: str) -> str:
        """Give an observation as the model is to see it; as it is by default."""
        return observation

    def keep(self, environment: Environment, turns: Sequence[Turn]) -> None:
        """Remember the last step beyond the view; not by default."""


class _Asker:
    """Asks for one answer."""

    def __init__(self, agent: EntriesAgent, environment: Environment) -> None:
        self.agent = agent
        self.environment = environment
        self.shown = agent.list_shown(environment)
        assert environment.llm is not None, f"{agent.name} asks an LLM"
        self.llm: LLM = environment.llm

    def ask(self, turns: Sequence[Turn], recalled: str) -> Response | None:
        """Ask until an answer holds an action, but no more often than that makes sense."""
        corrections: list[Message] = []
        for _ in range(RETRIES + 1):
            text = self._complete(turns, recalled, corrections)
            try:
                return parse_response(text, self.shown)
            except ResponseError as error:
                if text.strip():
                    corrections.append(Message.assistant(text))
                told = fill("correct", problem=error, entries=", ".join(self.agent.entries))
                corrections.append(Message.user(clean(told)))
        return None

    def _complete(
        self, turns: Sequence[Turn], recalled: str, corrections: Sequence[Message]
    ) -> str:
        """Ask once, with as many of the last steps as the model has room for."""
        for first in range(max(0, len(turns) - WINDOW), len(turns) + 1):
            shown = turns[first:]
            request = Request(
                system=self.system,
                messages=(*self._messages(shown, recalled), *corrections),
                stop=(f"\n{OBSERVATION}:",),
                temperature=TEMPERATURE,
                max_tokens=TOKENS,
                form=form_of(self.agent.entries, self.shown),
            )
            try:
                return self.llm.complete(request).text
            except TooLong:
                if not shown:
                    raise
        raise AssertionError("the last request showed no step")

    def _messages(self, turns: Sequence[Turn], recalled: str) -> list[Message]:
        messages = [Message.user(clean(recalled) or "Begin.")]
        for turn in turns:
            messages.append(Message.assistant(clean(turn.response.text())))
            messages.append(Message.user(f"{OBSERVATION}:\n```\n{clean(turn.observation)}\n```"))
        return messages

    @cached_property
    def system(self) -> str:
        """The instructions, the same for each step of a trial: providers cache them."""
        agent, environment = self.agent, self.environment
        return fill(
            agent.prompt,
            problem=environment.instruction,
            actions="\n\n".join(map(describe_action, self.shown)),
            form="\n".join(f"{name}: <{MEANINGS[name]}>" for name in agent.entries),
            steps=environment.limits.steps,
            seconds=round(environment.limits.seconds),
        )


def describe_action(action: Action) -> str:
    """Give an action and its arguments as a prompt shows it."""
    arguments = "\n".join(
        f'    "{argument.name}": {argument.description}' for argument in action.arguments
    )
    return f"{action.name}: {action.description}\n{arguments}"
