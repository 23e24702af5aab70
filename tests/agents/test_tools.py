"""The agent of native tool calling, in whole sessions over both SDKs."""

from collections.abc import Callable

import pytest

from tests.agents.conftest import Ran, Serve
from tests.agents.scripted import INPUT_TOKENS, OUTPUT_TOKENS, Said, call
from tests.folders import SOLUTION

Run = Callable[..., Ran]

DONE = call("final_answer", final_answer="The threshold is 4.")


def test_solves_a_task(serve: Serve, run_session: Run, protocol: str) -> None:
    server = serve(
        Said("I look around.", (("list_files", {"dir_path": "."}),)),
        call("read_file", file_name="train.py"),
        call("execute_script", script_name="train.py"),
        call("write_file", file_name="train.py", content=SOLUTION),
        call("execute_script", script_name="train.py"),
        DONE,
        protocol=protocol,
    )
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}")
    ran.outcome.assert_outcomes(passed=1)
    (result,) = ran.results
    assert (result.status, result.stop, result.score, result.steps) == (
        "success",
        "submitted",
        1.0,
        6,
    )
    assert (result.usage.input_tokens, result.usage.output_tokens) == (
        6 * INPUT_TOKENS,
        6 * OUTPUT_TOKENS,
    )
    assert [event["action"] for event in ran.events()] == [
        "List Files",
        "Read File",
        "Execute Script",
        "Write File",
        "Execute Script",
        "Final Answer",
    ]
    assert all(event["usage"]["output_tokens"] == OUTPUT_TOKENS for event in ran.events())
    assert len(ran.calls()) == 6


def test_does_calls_that_come_at_once_in_their_order(
    serve: Serve, run_session: Run, protocol: str
) -> None:
    server = serve(
        Said(
            calls=(
                ("write_file", {"file_name": "train.py", "content": SOLUTION}),
                ("execute_script", {"script_name": "train.py"}),
                ("read_file", {"file_name": "nowhere.py"}),
            )
        ),
        DONE,
        protocol=protocol,
    )
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}")
    ran.outcome.assert_outcomes(passed=1)
    assert [event["ok"] for event in ran.events()] == [True, True, False, True]
    answers = server.requests[1]["messages"]
    if protocol == "openai":
        assert [message.get("tool_call_id") for message in answers[-3:]] == [
            "call_0",
            "call_1",
            "call_2",
        ]
        assert "validation accuracy: 1.0000" in answers[-2]["content"]
    else:
        blocks = answers[-1]["content"]
        assert [block["tool_use_id"] for block in blocks] == ["call_0", "call_1", "call_2"]
        assert [block.get("is_error", False) for block in blocks] == [False, False, True]


def test_is_told_what_it_did_wrong(serve: Serve, run_session: Run) -> None:
    server = serve(
        Said("I think about it."),
        Said(),
        call("dance"),
        call("read_file", name="train.py"),
        call("write_file", file_name="train.py", content=SOLUTION),
        call("execute_script", script_name="train.py"),
        DONE,
    )
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}")
    ran.outcome.assert_outcomes(passed=1)
    told = [request["messages"][-1]["content"] for request in server.requests[1:5]]
    assert told[0] == told[1]
    assert told[0].startswith("Nothing was called.")
    assert told[2].startswith("There is no tool dance: list_files, read_file")
    assert told[3].startswith("Read File misses file_name; its arguments are {file_name: str}")


def test_gives_up_when_nothing_can_be_called(serve: Serve, run_session: Run) -> None:
    server = serve(Said("No."))
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}")
    ran.outcome.assert_outcomes(failed=1)
    (result,) = ran.results
    assert (result.status, result.stop, len(server.requests)) == ("no-submission", "gave-up", 6)
    assert "the agent gave up: 6 answers in a row called no tool" in result.detail
    assert "called no tool" in ran.events("note")[-1]["gave_up"]


@pytest.mark.parametrize(
    ("option", "stop"), [("--mlab-max-tokens=9000", "tokens"), ("--mlab-max-steps=2", "steps")]
)
def test_stops_at_a_limit_before_the_next_call(
    serve: Serve, run_session: Run, option: str, stop: str
) -> None:
    """The submission that is there by then counts."""
    server = serve(
        call("write_file", file_name="train.py", content=SOLUTION),
        call("execute_script", script_name="train.py"),
        call("list_files", dir_path="."),
    )
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}", option)
    (result,) = ran.results
    assert result.stop == stop
    if stop == "steps":
        assert (result.status, len(server.requests)) == ("success", 2)
    else:
        assert result.usage.tokens <= 9000


def test_forgets_old_observations_when_all_is_too_long(serve: Serve, run_session: Run) -> None:
    too_long = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    server = serve(
        call("read_file", file_name="train.py"),
        call("execute_script", script_name="train.py"),
        DONE,
        DONE,
    )
    third = server.canned.answers[2]
    third.status, third.body = 400, too_long
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}")
    (result,) = ran.results
    assert result.stop == "submitted"
    before, after = (
        [message["content"] for message in request["messages"] if message["role"] == "tool"]
        for request in server.requests[2:4]
    )
    assert before[0].startswith('"""Tell the labels')
    assert after == ["(left out here, to make room)", before[1]]
