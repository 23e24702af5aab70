"""The paper's agent: what it is shown, what it remembers, and how it can be taken apart."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_mlab.agents import find_agent
from pytest_mlab.agents.research import ResearchAgent
from pytest_mlab.exceptions import UsageError
from tests.agents.conftest import Ran, Serve
from tests.agents.scripted import Said, step
from tests.folders import STARTER, make_task

Run = Callable[..., Ran]

LOOK = step("List Files", dir_path=".")
GO = step("Execute Script", script_name="train.py")
DONE = step("Final Answer", final_answer="Done.")


def texts(request: dict[str, Any]) -> list[str]:
    return [message["content"] for message in request["messages"]]


def run_script(serve: Serve, run_session: Run, *script: Said, agent: str = "research") -> Any:
    server = serve(*script)
    return server, run_session(f"--mlab-agent={agent}", f"--mlab-llm={server.name}")


def test_is_told_the_problem_the_actions_and_the_form(serve: Serve, run_session: Run) -> None:
    server, _ = run_script(serve, run_session, DONE)
    (request,) = server.requests
    system = texts(request)[0]
    assert "Find the threshold above which the label of an x is 1" in system
    for action in ("List Files", "Copy File", "Undo Edit Script", "Execute Script"):
        assert f"\n{action}: " in system
    for action in ("Read File", "Write File", "Python REPL", "Reflection", "Retrieval from"):
        assert f"\n{action}: " not in system or action == "Reflection"
    entries = ["Reflection", "Research Plan and Status", "Fact Check", "Thought", "Action"]
    places = [system.index(f"\n{entry}: <") for entry in [*entries, "Action Input"]]
    assert places == sorted(places)
    assert request["temperature"] == 0.5
    assert request["max_tokens"] == 2000


def test_sees_the_last_three_steps_word_for_word(serve: Serve, run_session: Run) -> None:
    server, _ = run_script(serve, run_session, LOOK, GO, LOOK, LOOK, DONE)
    first, *later = texts(server.requests[-1])[1:]
    assert first == "Begin."
    assert len(later) == 6
    assert later[0].startswith("Reflection: It is clear.\nResearch Plan and Status: Go on.\n")
    assert "Action: Execute Script\n" in later[0]
    assert "validation accuracy: 0.7" in later[1]
    assert later[1].startswith("Observation:\n```\n")


def test_may_use_only_what_it_is_shown(serve: Serve, run_session: Run) -> None:
    server, ran = run_script(serve, run_session, step("Read File", file_name="train.py"), DONE)
    told = texts(server.requests[1])[-1]
    assert 'There is no action "Read File". The actions are: List Files' in told
    assert [event["action"] for event in ran.events()] == ["Final Answer"]


def test_is_asked_again_five_times_at_most(serve: Serve, run_session: Run) -> None:
    server, ran = run_script(serve, run_session, Said("Certainly!"))
    ran.outcome.assert_outcomes(failed=1)
    (result,) = ran.results
    assert (result.stop, result.steps, len(server.requests)) == ("gave-up", 0, 6)
    assert "the agent gave up: 6 answers in a row held no action" in result.summary()
    assert texts(server.requests[-1])[2:4] == ["Certainly!", texts(server.requests[-1])[3]]
    assert "no entry `Action:`" in texts(server.requests[-1])[3]


def test_has_long_observations_summarised(
    serve: Serve, run_session: Run, pytester: pytest.Pytester
) -> None:
    noisy = STARTER + '\nfor number in range(2000):\n    print(f"line {number:05}")\n'
    folder = make_task(pytester.path / "noisy", files={"workspace/train.py": noisy})
    parts = [Said(f"Part {number}.") for number in range(1, 4)]
    server = serve(GO, *parts, Said("All lines are alike."), DONE)
    run_session(f"--mlab-llm={server.name}", task=str(folder))
    assert len(server.requests) == 6
    asked = [texts(request)[0] for request in server.requests[1:5]]
    assert "characters 1 to 10,000 of 2" in asked[0]
    assert "line 01999" in asked[2]
    assert "Part 1:\nPart 1.\n\nPart 2:\nPart 2." in asked[3]
    assert all(request["temperature"] == 0.01 for request in server.requests[1:5])
    assert texts(server.requests[-1])[-1] == (
        "Observation:\n```\n(summary) All lines are alike.\n```"
    )


def test_keeps_a_long_observation_by_its_ends_where_no_summary_is_to_be_had(
    serve: Serve, run_session: Run, pytester: pytest.Pytester
) -> None:
    noisy = STARTER + '\nprint("x" * 9000)\n'
    folder = make_task(pytester.path / "noisy", files={"workspace/train.py": noisy})
    server = serve(GO, Said("", stop="content_filter"), DONE)
    run_session(f"--mlab-llm={server.name}", task=str(folder))
    shown = texts(server.requests[-1])[-1]
    assert "validation accuracy: 0.7" in shown
    assert "characters are left out" in shown
    assert len(shown) < 5200


def test_remembers_in_the_research_log(serve: Serve, run_session: Run) -> None:
    """Each step is summarised into it; past the view, what matters of it goes into the prompt."""
    script: list[Said] = []
    for number in range(1, 5):
        script += [LOOK, Said(f"[Observation]: summary {number}")]
    server, ran = run_script(
        serve, run_session, *script, Said("What matters."), DONE, agent="research+log"
    )
    (result,) = ran.results
    assert (result.stop, result.steps) == ("submitted", 5)
    uncharged = [event["action"] for event in ran.events() if "Log" in event["action"]]
    assert uncharged == ["Append Summary to Research Log"] * 4 + ["Retrieval from Research Log"]
    log = (ran.trials[0] / "research_log.txt").read_text()
    assert log.startswith("Step 1:\n[Observation]: summary 1\n\nStep 2:\n")
    asked = texts(server.requests[8])[0]
    assert "Go on." in asked
    assert "summary 4" in asked
    last = texts(server.requests[9])[1]
    assert last.startswith("From your research log, what matters of the earlier steps:\n\nWhat m")


@pytest.mark.parametrize(
    ("name", "log", "missing"),
    [
        ("research", False, []),
        ("research+log", True, []),
        ("research-reflection", False, ["Reflection"]),
        ("research-fact-check", False, ["Fact Check"]),
        ("research-plan", False, ["Research Plan and Status"]),
        ("research+log-fact-check-thought", True, ["Fact Check", "Thought"]),
    ],
)
def test_can_be_taken_apart_by_its_name(name: str, log: bool, missing: list[str]) -> None:
    agent = find_agent(name)
    assert isinstance(agent, ResearchAgent)
    assert agent.log == log
    whole = list(find_agent("research").entries)  # type: ignore[attr-defined]
    assert [entry for entry in whole if entry not in agent.entries] == missing


@pytest.mark.parametrize("name", ["research-log", "research+thought", "research-x", "react+log"])
def test_says_which_parts_there_are(name: str) -> None:
    with pytest.raises(UsageError, match="there is no agent"):
        find_agent(name)


def test_an_ablation_is_not_asked_for_what_it_does_without(serve: Serve, run_session: Run) -> None:
    server, ran = run_script(serve, run_session, DONE, agent="research-reflection-fact-check")
    system = texts(server.requests[0])[0]
    assert "\nReflection: <" not in system
    assert "\nFact Check: <" not in system
    assert "\nThought: <" in system
    assert ran.results[0].agent == "research-reflection-fact-check"


@pytest.mark.parametrize(("agent", "entries"), [("simple", []), ("react", ["Thought"])])
def test_the_simpler_agents_ask_for_less(
    serve: Serve, run_session: Run, agent: str, entries: list[str]
) -> None:
    server, ran = run_script(serve, run_session, GO, DONE, agent=agent)
    system = texts(server.requests[0])[0]
    asked = [name for name in ("Reflection", "Thought") if f"{name}: <" in system]
    assert asked == entries
    assert ran.results[0].stop == "submitted"
