"""What stands between a trial's agent and its LLMs: limits before a call, the record after it."""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass

from pytest_mlab.budget import Budget
from pytest_mlab.exceptions import BudgetSpent, LeftOver, LimitReached
from pytest_mlab.llm import LLM, Reply, Request, Spec
from pytest_mlab.llm.errors import BadAnswer, ConnectionLost, ProviderError, RequestError
from pytest_mlab.llm.prices import cost_of
from pytest_mlab.llm.record import Record
from pytest_mlab.results import Usage

BYTES_PER_TOKEN = 3
"""For what a prompt will cost, before the API says: English takes 4 to 5, code 3, Chinese 3."""


PATIENCE = 120.0
"""How long a call waits for others to be settled before the budget is said not to hold it, in
seconds: most calls take less, and what a killed worker has booked is never settled."""


class Meter:
    """The calls of one trial, whichever of its LLMs they go to.

    A call is made only if it fits into what is left even where the model writes all it may:
    otherwise `LimitReached` ("tokens", "cost", "time") for the trial's own limits, `BudgetSpent`
    for the session's, and `LeftOver` where that was so at the trial's first call. ``seconds`` says
    what remains of the trial's time. `usage` sums up what the providers reported.
    """

    def __init__(
        self,
        *,
        seconds: Callable[[], float],
        max_tokens: int | None = None,
        max_cost: float | None = None,
        budget: Budget | None = None,
        record: Record | None = None,
    ) -> None:
        self.seconds = seconds
        self.max_tokens = max_tokens
        self.max_cost = max_cost
        self.budget = budget
        self.record = record
        self.usage = Usage()
        self.calls = 0

    @property
    def tokens_left(self) -> float:
        """Tokens that the trial may still use; infinite without a limit."""
        return float("inf") if self.max_tokens is None else self.max_tokens - self.usage.tokens

    @property
    def cost_left(self) -> float:
        """US dollars that the trial may still spend; infinite without a limit."""
        return float("inf") if self.max_cost is None else self.max_cost - self.usage.cost_usd

    def over(self, llm: LLM, spec: Spec, role: str = "main") -> LLM:
        """Put the meter in front of an LLM; ``role`` (main, fast, edit) goes into the record."""
        return _Metered(self, llm, spec, role)

    def call(self, llm: LLM, spec: Spec, role: str, request: Request) -> Reply:
        """Ask an LLM within the limits; what came of it is recorded, a limit reached too."""
        answer: Reply | BaseException | None = None
        try:
            answer = self._ask(llm, spec, request)
        except BaseException as error:
            answer = error
            raise
        finally:
            if self.record and answer is not None:
                self.record.write(role, spec, request, answer)
        return answer

    def _ask(self, llm: LLM, spec: Spec, request: Request) -> Reply:
        """Make one call, if it fits into all limits."""
        seconds = self.seconds()
        if seconds <= 0:
            raise LimitReached("time")
        most = _most(spec, request)
        if most.tokens > self.tokens_left:
            raise LimitReached("tokens")
        if most.cost_usd > self.cost_left:
            raise LimitReached("cost")
        if request.seconds is not None:
            seconds = min(seconds, request.seconds)
        booked = self._book(spec, most)
        answer: Reply | BaseException | None = None
        self.calls += 1
        try:
            answer = llm.complete(dataclasses.replace(request, seconds=seconds))
        except ConnectionLost as error:
            answer = LimitReached("time") if self.seconds() <= 0 else error
            raise answer from None
        except Exception as error:
            answer = error
            raise
        finally:
            if self.budget and booked:
                charged = _charged(answer) or most  # the most where it cannot be known
                self.budget.settle(booked, charged.cost_usd, charged.tokens)
        self.usage += answer.usage
        return answer

    def _book(self, spec: Spec, most: Usage) -> str | None:
        # A replay costs what it cost then, but nobody is charged again.
        if self.budget is None or spec.protocol == "replay":
            return None
        try:
            patience = min(PATIENCE, self.seconds())
            return self.budget.book(most.cost_usd, most.tokens, patience)
        except BudgetSpent as error:
            if self.calls:
                raise
            raise LeftOver(error.limit) from None


@dataclass(frozen=True)
class _Metered:
    """One LLM behind a meter."""

    meter: Meter
    llm: LLM
    spec: Spec
    role: str

    @property
    def name(self) -> str:
        return self.llm.name

    def complete(self, request: Request) -> Reply:
        return self.meter.call(self.llm, self.spec, self.role, request)


def _most(spec: Spec, request: Request) -> Usage:
    """Give what a call may use at most; its prompt is estimated."""
    sent = request if spec.local else dataclasses.replace(request, form=None)
    asked = json.dumps(sent.to_dict(), ensure_ascii=False)
    prompt = len(asked.encode(errors="replace")) // BYTES_PER_TOKEN
    written = spec.traits.output_limit(request.max_tokens)
    cost = cost_of(spec, input_tokens=prompt, output_tokens=written)
    return Usage(prompt, written, cost_usd=cost)


def _charged(answer: Reply | BaseException | None) -> Usage | None:
    """Give what the provider charged, None where it cannot be known."""
    if isinstance(answer, Reply):
        return answer.usage
    declined = isinstance(answer, (RequestError, ProviderError))
    return Usage() if declined and not isinstance(answer, (ConnectionLost, BadAnswer)) else None
