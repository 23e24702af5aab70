"""The paper's research agent: it reflects, plans, checks facts and thinks before it acts."""

from collections.abc import Sequence
from typing import Self

from pytest_mlab.agents.entries import LONGEST, SHOWN, WINDOW, EntriesAgent, Turn
from pytest_mlab.agents.responses import ENTRIES, Response
from pytest_mlab.asking import ask_fast, number, split_text
from pytest_mlab.environment import Environment
from pytest_mlab.exceptions import ActionError, UsageError
from pytest_mlab.prompts import fill

PLAN = "Research Plan and Status"
LOG = ("Append Summary to Research Log", "Retrieval from Research Log")

SWITCHES = {
    "log": "the Research Log",
    "reflection": "Reflection",
    "plan": PLAN,
    "fact-check": "Fact Check",
    "thought": "Thought",
}


class ResearchAgent(EntriesAgent):
    """Answers in six entries; with ``log``, it remembers what is out of view in a Research Log.

    ``without`` names entries to leave out. On the command line: ``research+log``,
    ``research-reflection``, ``research+log-fact-check`` and so on.
    """

    name = "research"
    prompt = "research"

    def __init__(self, *, log: bool = False, without: Sequence[str] = ()) -> None:
        self.log = log
        self.actions = (*SHOWN, *LOG) if log else SHOWN
        self.entries = [entry for entry in ENTRIES if entry not in without]

    @classmethod
    def variant(cls, switches: str) -> Self:
        """Make the agent of a name's end, such as ``+log-reflection``."""
        log, without, rest = False, [], switches
        while rest:
            name = next((name for name in SWITCHES if rest[1:].startswith(name)), None)
            rest_after = rest[1 + len(name) :] if name else ""
            if name is None or (name == "log") != (rest[0] == "+") or rest_after[:1].isalnum():
                names = ", ".join(f"-{name}" for name in SWITCHES if name != "log")
                raise UsageError(
                    f'there is no agent "{cls.name}{switches}": {cls.name} takes +log and {names}'
                )
            if name == "log":
                log = True
            else:
                without.append(SWITCHES[name])
            rest = rest_after
        return cls(log=log, without=without)

    def shorten(self, environment: Environment, response: Response, observation: str) -> str:
        """Have a long observation summarised, part by part."""
        if len(observation) <= LONGEST:
            return observation
        llm = environment.fast_llm
        assert llm is not None
        step = response.text()
        try:
            parts = [
                ask_fast(llm, fill("summarize", step=step, place=place, text=text))
                for place, text in split_text(observation)
            ]
            if len(parts) == 1:
                return f"(summary) {parts[0]}"
            return "(summary) " + ask_fast(
                llm, fill("summarize_all", step=step, parts=number(parts))
            )
        except ActionError:
            half = LONGEST // 2
            left_out = len(observation) - 2 * half
            return (
                f"{observation[:half]}\n({left_out:,} characters are left out)\n"
                f"{observation[-half:]}"
            )

    def recall(self, environment: Environment, turns: Sequence[Turn]) -> str:
        """Give what the Research Log holds on the current plan, once steps are out of view."""
        if not self.log or len(turns) <= WINDOW:
            return ""
        plan = turns[-1].response.entries.get(PLAN, "")
        found = environment.act("Retrieval from Research Log", current_plan=plan)
        return fill("recalled", text=found.text, steps=WINDOW) if found.ok else ""

    def keep(self, environment: Environment, turns: Sequence[Turn]) -> None:
        """Write a summary of the last step into the Research Log."""
        if not self.log:
            return
        environment.check_limits()
        llm, turn = environment.fast_llm, turns[-1]
        assert llm is not None
        prompt = fill("summarize_step", step=turn.response.text(), observation=turn.observation)
        try:
            summary = ask_fast(llm, prompt)
        except ActionError as error:
            summary = f"{turn.response.action}; no summary: {error}"
        environment.act("Append Summary to Research Log", content=f"Step {len(turns)}:\n{summary}")
