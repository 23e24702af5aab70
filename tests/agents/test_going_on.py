"""Agents that ask a language model go on after an interruption, with what was done in view."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mlab.results import Result
from tests.agents.conftest import Ran, Serve
from tests.agents.scripted import INPUT_TOKENS, Said, call, speak, step
from tests.folders import SOLUTION
from tests.llm.servers import Answer

Run = Callable[..., Ran]

REFUSED = Answer({"error": {"message": "the account is closed", "type": "billing"}}, status=401)


def interrupt_and_go_on(
    *,
    serve: Serve,
    run_session: Run,
    agent: str,
    protocol: str,
    before: list[Said],
    after: list[Said],
    outcome: str = "passed",
) -> tuple[Ran, str]:
    """Run a session whose provider fails, then one that resumes it; give it and what it asked."""
    server = serve(*before, protocol=protocol)
    server.canned.answers.append(REFUSED)
    options = (f"--mlab-agent={agent}", f"--mlab-llm={server.name}")
    run_session(*options).outcome.assert_outcomes(errors=1)
    server.canned.answers[:] = [speak(said, protocol) for said in after]
    asked = len(server.requests)
    ran = run_session(*options, "--mlab-resume=step")
    ran.outcome.assert_outcomes(**{outcome: 1})
    assert f"goes on after step {len(before)}" in ran.text
    return ran, json.dumps(server.requests[asked]["messages"])


def last_result(ran: Ran) -> Result:
    """Give the result of the trial that was gone on with."""
    session = (ran.folder / ".mlab" / "latest").read_text().strip()
    (trial,) = (ran.folder / ".mlab" / session).glob("*/result.json")
    return Result.from_json(Path(trial).read_text())


def test_tools_are_told_of_the_calls_before(serve: Serve, run_session: Run, protocol: str) -> None:
    ran, asked = interrupt_and_go_on(
        serve=serve,
        run_session=run_session,
        agent="tools",
        protocol=protocol,
        before=[
            Said("I look around.", (("list_files", {"dir_path": "."}),)),
            call("write_file", file_name="train.py", content=SOLUTION),
        ],
        after=[
            call("execute_script", script_name="train.py"),
            call("final_answer", final_answer="4"),
        ],
    )
    places = [asked.index(said) for said in ("I look around.", "list_files", "write_file")]
    assert places == sorted(places)
    result = last_result(ran)
    assert (result.steps, result.status) == (4, "success")
    assert result.usage.input_tokens == 4 * INPUT_TOKENS


@pytest.mark.parametrize("agent", ["simple", "react", "research"])
def test_agents_of_entries_see_their_last_steps(serve: Serve, run_session: Run, agent: str) -> None:
    copy = {"source": "train.py", "destination": "again.py"}
    ran, asked = interrupt_and_go_on(
        serve=serve,
        run_session=run_session,
        agent=agent,
        protocol="openai",
        before=[step("List Files", dir_path="."), step("Copy File", **copy)],
        after=[
            step("Execute Script", script_name="train.py"),
            step("Final Answer", final_answer=""),
        ],
        outcome="failed",
    )
    places = [asked.index(said) for said in ("List Files", "Copy File", "again.py")]
    assert places == sorted(places)
    assert "Research Plan and Status: Go on." in asked
    assert last_result(ran).steps == 4
