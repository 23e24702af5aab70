"""A recorded trial plays back exactly, and says where a changed agent leaves it."""

from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.exceptions import LimitReached
from pytest_mlab.llm import LLM, Message, Reply, Request, ToolCall, check, connect, lookup
from pytest_mlab.llm.errors import LLMUsageError, Overloaded, ReplayDiverged, TooLong
from pytest_mlab.llm.record import Record
from pytest_mlab.results import Usage

GPT_4 = lookup("gpt-4")


def request(*texts: str, **more: Any) -> Request:
    """Give a request of user's messages."""
    return Request(messages=tuple(Message.user(text) for text in texts), **more)


def record(
    folder: Path,
    *calls: tuple[Request, Reply | BaseException],
    task: str = "digits",
    agent: str = "research",
    trial: int = 1,
) -> str:
    """Record a trial's calls and give the name that plays them back."""
    folder.mkdir(parents=True, exist_ok=True)
    written = Record(folder / "llm.jsonl", task=task, agent=agent, llm="gpt-4", trial=trial)
    for asked, answer in calls:
        written.write("main", GPT_4, asked, answer)
    return f"replay:{folder}"


def play(name: str, task: str = "digits", agent: str = "research", trial: int = 1) -> LLM:
    """Give the LLM that plays a trial back."""
    return connect(lookup(name), task=task, agent=agent, trial=trial)


class TestTheSame:
    def test_answers_come_in_their_order_as_they_were(self, tmp_path: Path) -> None:
        first = Reply(
            text="Let me see.",
            stop="tool",
            tool_calls=(ToolCall("c1", "f", '{"a": 1}'),),
            usage=Usage(10, 20, 5, 0.01),
            model="gpt-4-0613",
            native={"openai-chat": {"content": "x"}},
        )
        name = record(tmp_path, (request("one"), first), (request("two"), Reply(text="Done.")))
        check(lookup(name))
        llm = play(name)
        assert llm.complete(request("one")) == first
        assert llm.complete(request("two")) == Reply(text="Done.")

    @pytest.mark.parametrize("error", [TooLong("by far"), Overloaded("529"), LimitReached("time")])
    def test_errors_do_too(self, tmp_path: Path, error: BaseException) -> None:
        llm = play(record(tmp_path, (request("one"), error)))
        with pytest.raises(type(error)) as raised:
            llm.complete(request("one"))
        assert str(raised.value) == str(error)

    def test_each_trial_of_a_session_finds_its_own(self, tmp_path: Path) -> None:
        for task in ("digits", "wine"):
            for trial in (1, 2):
                answer = Reply(text=f"{task} {trial}")
                record(
                    tmp_path / f"{task}-{trial}", (request("hi"), answer), task=task, trial=trial
                )
        llm = play(f"replay:{tmp_path}", task="wine", trial=2)
        assert llm.complete(request("hi")).text == "wine 2"

    def test_each_agent_of_a_session_finds_its_own(self, tmp_path: Path) -> None:
        record(tmp_path / "a", (request("hi"), Reply(text="by react")), agent="react")
        record(tmp_path / "b", (request("hi"), Reply(text="by research")), agent="research")
        llm = play(f"replay:{tmp_path}", agent="react")
        assert llm.complete(request("hi")).text == "by react"

    def test_an_agent_of_a_new_name_gets_the_only_one_there_is(self, tmp_path: Path) -> None:
        name = record(tmp_path, (request("hi"), Reply(text="Hi.")), agent="research")
        assert play(name, agent="research-reflection").complete(request("hi")).text == "Hi."

    @pytest.mark.parametrize(
        ("then", "now"),
        [
            ("It took 12.31 s.", "It took 9.87 s."),
            ("elapsed: 153ms", "elapsed: 87ms"),
            ("2024-05-01 12:30:00,123 INFO", "2026-11-21T09:12:07.5 INFO"),
            ("100%|####| 10/10 [00:07<00:00, 1.43it/s]", "100%|####| 10/10 [00:05<00:00, 2.1it/s]"),
            ("<Model object at 0x7f01ab>", "<Model object at 0x7fee01>"),
        ],
    )
    def test_clocks_and_addresses_may_differ(self, tmp_path: Path, then: str, now: str) -> None:
        llm = play(record(tmp_path, (request(then), Reply(text="ok"))))
        assert llm.complete(request(now)).text == "ok"

    def test_time_limits_may_differ(self, tmp_path: Path) -> None:
        llm = play(record(tmp_path, (request("one", seconds=100.0), Reply(text="ok"))))
        assert llm.complete(request("one", seconds=77.7)).text == "ok"

    def test_a_key_that_was_scrubbed_then_is_scrubbed_now(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
        asked = request("the key is sk-1234567890")
        llm = play(record(tmp_path, (asked, Reply(text="ok"))))
        assert llm.complete(asked).text == "ok"


class TestAnother:
    @pytest.mark.parametrize(
        ("now", "said"),
        [
            (request("one", "accuracy 0.92"), r"message 2 \(user\) differs.*0\.91.*0\.92"),
            (request("one"), "2 messages then, 1 now"),
            (request("one", "accuracy 0.91", "x"), "2 messages then, 3 now"),
            (request("one", "accuracy 0.91", system="Be."), "system differs.*'Be.'"),
            (request("one", "accuracy 0.91", temperature=0.5), r"temperature differs.*0\.5"),
        ],
    )
    def test_request_is_told_with_its_place(self, tmp_path: Path, now: Request, said: str) -> None:
        name = record(
            tmp_path,
            (request("a"), Reply(text="A")),
            (request("one", "accuracy 0.91"), Reply(text="B")),
        )
        llm = play(name)
        llm.complete(request("a"))
        with pytest.raises(ReplayDiverged, match=f"(?s)call 2 .*{said}") as raised:
            llm.complete(now)
        assert str(tmp_path) in str(raised.value)

    def test_a_small_difference_in_a_long_text_is_shown_and_the_rest_is_not(
        self, tmp_path: Path
    ) -> None:
        then, now = "x" * 5000 + "OLD" + "y" * 5000, "x" * 5000 + "NEW" + "y" * 5000
        llm = play(record(tmp_path, (request(then), Reply(text="A"))))
        with pytest.raises(ReplayDiverged, match=r"(?s)then: .*OLD.*now: .*NEW") as raised:
            llm.complete(request(now))
        assert len(str(raised.value)) < 1000

    def test_call_more_than_there_were(self, tmp_path: Path) -> None:
        llm = play(record(tmp_path, (request("a"), Reply(text="A"))))
        llm.complete(request("a"))
        with pytest.raises(ReplayDiverged, match=r"call 2 is one more.*(?s:.*)what now\?"):
            llm.complete(request("what now?"))


class TestNothingToPlay:
    def test_no_such_trial(self, tmp_path: Path) -> None:
        name = record(tmp_path, trial=1)
        with pytest.raises(LLMUsageError, match="no recording of trial 7 of digits by research"):
            play(name, trial=7)

    def test_the_same_trial_twice(self, tmp_path: Path) -> None:
        record(tmp_path / "monday")
        record(tmp_path / "tuesday")
        with pytest.raises(LLMUsageError, match=r"(?s)more than once.*monday.*tuesday"):
            play(f"replay:{tmp_path}")

    def test_a_file_cut_off_in_its_middle(self, tmp_path: Path) -> None:
        name = record(tmp_path, (request("a"), Reply(text="A")))
        path = tmp_path / "llm.jsonl"
        path.write_text(path.read_text()[:-30])
        with pytest.raises(LLMUsageError, match=r"llm\.jsonl:2: no JSON"):
            play(name).complete(request("a"))
