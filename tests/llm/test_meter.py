"""A trial's limits stop it before a call, not after; whatever was asked is on record."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.allowance import Allowance
from pytest_mlab.budget import Budget
from pytest_mlab.exceptions import BudgetSpent, LeftOver, LimitReached
from pytest_mlab.llm import LLM, Message, Reply, Request, Spec, connect, lookup
from pytest_mlab.llm.errors import ConnectionLost, Overloaded, TooLong
from pytest_mlab.llm.meter import Meter
from pytest_mlab.llm.record import Record
from pytest_mlab.results import Usage
from tests.llm.conftest import at, completion
from tests.llm.servers import Answer, Canned

Serve = Callable[..., Canned]
REQUEST = Request(messages=(Message.user("hello"),), max_tokens=100)
GPT_4 = lookup("gpt-4")  # $30 and $60 per million tokens: 100 tokens written are $0.006


class Scripted:
    """An LLM that gives, or raises, what it is told to; it notes what it was asked."""

    name = "scripted"

    def __init__(self, *answers: Reply | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def using(tokens: int, cost: float = 0.0) -> Reply:
    """Give a reply that used these."""
    return Reply(text="Hello.", usage=Usage(tokens, 0, 0, cost))


def meter(**limits: Any) -> Meter:
    """Give a meter with time enough."""
    return Meter(**{"seconds": lambda: 100.0, **limits})


def ask(subject: Meter, llm: LLM, spec: Spec = GPT_4, request: Request = REQUEST) -> Reply:
    """Ask once through a meter."""
    return subject.over(llm, spec).complete(request)


class TestLimitsOfTheTrial:
    def test_without_any_all_is_counted(self) -> None:
        subject = meter()
        llm = Scripted(using(100, 0.5))
        ask(subject, llm)
        subject.over(llm, GPT_4, "fast").complete(REQUEST)
        assert subject.usage == Usage(200, 0, 0, 1.0)
        assert subject.calls == 2
        assert subject.tokens_left == subject.cost_left == float("inf")

    def test_tokens_that_would_not_hold_the_next_call_stop_it(self) -> None:
        subject = meter(max_tokens=1000)
        llm = Scripted(using(880))
        ask(subject, llm)
        with pytest.raises(LimitReached, match="tokens") as raised:
            ask(subject, llm)
        assert raised.value.limit == "tokens"
        assert len(llm.requests) == 1
        assert subject.tokens_left == 120

    def test_neither_would_a_long_prompt_fit(self) -> None:
        request = Request(messages=(Message.user("word " * 3000),), max_tokens=1)
        llm = Scripted(using(1))
        with pytest.raises(LimitReached):
            ask(meter(max_tokens=1000), llm, request=request)
        assert not llm.requests

    def test_cost_that_would_not_hold_the_next_call_stops_it(self) -> None:
        subject = meter(max_cost=0.02)
        llm = Scripted(using(10, 0.015))
        ask(subject, llm)
        with pytest.raises(LimitReached) as raised:
            ask(subject, llm)
        assert raised.value.limit == "cost"
        assert len(llm.requests) == 1

    def test_no_time_is_left(self) -> None:
        llm = Scripted(using(1))
        with pytest.raises(LimitReached) as raised:
            ask(meter(seconds=lambda: 0.0), llm)
        assert raised.value.limit == "time"
        assert not llm.requests

    @pytest.mark.parametrize(("asked", "given"), [(None, 100.0), (500.0, 100.0), (5.0, 5.0)])
    def test_a_call_has_no_more_time_than_the_trial(
        self, asked: float | None, given: float
    ) -> None:
        llm = Scripted(using(1))
        request = Request(messages=REQUEST.messages, seconds=asked)
        ask(meter(), llm, request=request)
        assert llm.requests[0].seconds == given

    def test_time_that_runs_out_in_a_call_is_the_agents_not_the_providers(
        self, canned: Serve
    ) -> None:
        server = canned(Answer(completion().body, delay=2))
        left = iter([0.2, 0.0])
        with pytest.raises(LimitReached) as raised:
            ask(meter(seconds=lambda: next(left)), at(server.url, "openai"), lookup("local"))
        assert raised.value.limit == "time"


def make_budget(folder: Path, **limits: float) -> Budget:
    """Open a session's budget."""
    return Budget(folder / "budget", Allowance(**limits), time.monotonic())


class TestBudgetOfTheSession:
    def test_what_it_would_not_hold_is_not_asked_and_is_not_the_agents_fault(
        self, tmp_path: Path
    ) -> None:
        budget = make_budget(tmp_path, usd=0.02)
        subject, llm = meter(budget=budget), Scripted(using(10, 0.015))
        ask(subject, llm)
        with pytest.raises(BudgetSpent, match="raise --mlab-budget"):
            ask(subject, llm)
        assert budget.spent.usd == pytest.approx(0.015)
        assert len(llm.requests) == 1

    def test_a_trial_whose_first_call_it_does_not_hold_is_left_for_later(
        self, tmp_path: Path
    ) -> None:
        budget = make_budget(tmp_path, usd=0.02)
        ask(meter(budget=budget), Scripted(using(10, 0.015)))
        with pytest.raises(LeftOver, match=r"^not run: budget: 0\.02 USD do not hold it"):
            ask(meter(budget=budget), Scripted(using(10)))

    def test_tokens_are_booked_at_their_most_and_counted_as_used(self, tmp_path: Path) -> None:
        budget = make_budget(tmp_path, tokens=1000)
        subject, llm = meter(budget=budget), Scripted(using(880))
        ask(subject, llm)
        assert budget.spent.tokens == 880
        with pytest.raises(BudgetSpent, match=r"budget of 1,000 tokens does not hold"):
            ask(subject, llm)

    def test_no_call_is_made_after_the_sessions_time(self, tmp_path: Path) -> None:
        budget = Budget(tmp_path / "budget", Allowance(hours=1), time.monotonic() - 3600)
        subject, llm = meter(budget=budget), Scripted(using(1))
        subject.calls = 1
        with pytest.raises(BudgetSpent, match=r"budget of 1 h does not hold"):
            ask(subject, llm)

    def test_a_replay_is_not_charged(self, tmp_path: Path) -> None:
        budget = make_budget(tmp_path, usd=0.001)
        subject = meter(budget=budget)
        ask(subject, Scripted(using(10, 5.0)), lookup("replay:somewhere"))
        assert (budget.spent.usd, budget.spent.tokens) == (0, 0)
        assert subject.usage.cost_usd == 5.0

    @pytest.mark.parametrize(
        ("failure", "charged"),
        [(TooLong(""), False), (Overloaded(""), False), (ConnectionLost(""), True)],
    )
    def test_a_call_that_failed_is_charged_where_the_provider_may_do_so(
        self, tmp_path: Path, failure: Exception, charged: bool
    ) -> None:
        budget = make_budget(tmp_path, usd=1.0)
        with pytest.raises(type(failure)):
            ask(meter(budget=budget), Scripted(failure))
        assert (budget.spent.usd > 0) == charged


class TestRecord:
    def test_every_call_is_on_it_whatever_came_of_it(self, tmp_path: Path) -> None:
        path = tmp_path / "llm.jsonl"
        record = Record(path, task="digits", agent="research", llm="gpt-4", trial=2)
        subject = meter(record=record)
        llm = Scripted(using(7), TooLong("too long by far"), using(7))
        ask(subject, llm)
        with pytest.raises(TooLong):
            subject.over(llm, GPT_4, "fast").complete(REQUEST)
        ask(subject, llm)
        head, *lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert head == {
            "format": "mlab-llm/1",
            "task": "digits",
            "agent": "research",
            "llm": "gpt-4",
            "trial": 2,
        }
        assert [(line["call"], line["role"]) for line in lines] == [
            (1, "main"),
            (2, "fast"),
            (3, "main"),
        ]
        assert lines[0]["request"] == {
            "messages": [{"role": "user", "text": "hello"}],
            "max_tokens": 100,
        }
        assert lines[0]["reply"]["text"] == "Hello."
        assert lines[0]["reply"]["usage"]["input_tokens"] == 7
        assert lines[1]["error"] == {"type": "TooLong", "message": "too long by far"}

    def test_a_limit_that_was_reached_is_on_it_and_a_replay_reaches_it_too(
        self, tmp_path: Path
    ) -> None:
        """Even where the replay is given other limits, or none."""
        record = Record(tmp_path / "llm.jsonl", task="t", agent="a", llm="gpt-4", trial=1)
        subject = meter(record=record, max_tokens=1000)
        ask(subject, Scripted(using(900)))
        with pytest.raises(LimitReached, match="tokens"):
            ask(subject, Scripted(using(900)))
        spec = lookup(f"replay:{tmp_path}")
        again = meter().over(connect(spec, task="t", agent="a", trial=1), spec)
        again.complete(REQUEST)
        with pytest.raises(LimitReached, match="tokens"):
            again.complete(REQUEST)

    def test_keys_are_not_on_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
        monkeypatch.setenv("DEPLOY_PASSWORD", "hunter2hunter2")
        path = tmp_path / "llm.jsonl"
        record = Record(path, task="t", agent="a", llm="gpt-4", trial=1)
        request = Request(messages=(Message.user("env: sk-1234567890 hunter2hunter2"),))
        ask(meter(record=record), Scripted(Reply(text="I saw sk-1234567890.")), request=request)
        text = path.read_text()
        assert "sk-1234567890" not in text
        assert "hunter2hunter2" not in text
        assert "I saw <OPENAI_API_KEY>." in text

    def test_text_that_is_no_unicode_is_on_it(self, tmp_path: Path) -> None:
        path = tmp_path / "llm.jsonl"
        record = Record(path, task="t", agent="a", llm="gpt-4", trial=1)
        request = Request(messages=(Message.user("half a pair: \ud83d"),))
        ask(meter(record=record), Scripted(using(1)), request=request)
        line = json.loads(path.read_text().splitlines()[1])
        assert line["request"]["messages"][0]["text"] == "half a pair: \ud83d"
