"""Who tries, and what is refused before any task runs."""

from collections.abc import Callable

import pytest

from pytest_mlab.sandbox import find_sandbox
from tests.agents.conftest import Ran, Serve, no_keys, run_session, serve
from tests.agents.scripted import Said, call, step
from tests.folders import SOLUTION, make_task

__all__ = ["no_keys", "run_session", "serve"]

Run = Callable[..., Ran]

SOLVE = (
    call("write_file", file_name="train.py", content=SOLUTION),
    call("execute_script", script_name="train.py"),
    call("final_answer", final_answer="Done."),
)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--mlab-llm=gpt-4"], "needs a key: set the environment variable OPENAI_API_KEY"),
        (["--mlab-llm=claude-2.1"], "set the environment variable ANTHROPIC_API_KEY"),
        (["--mlab-llm=nobody"], "--mlab-llm=nobody: no such language model"),
        (["--mlab-llm=replay:nowhere"], "no llm.jsonl in or under nowhere"),
        (["--mlab-agent=research"], 'agent "research" asks a language model: name one with'),
        (["--mlab-agent=tools"], "--mlab-llm"),
        (["--mlab-llm=openai:m@http://127.0.0.1:1/v1", "--mlab-fast-llm=gpt-4"], "OPENAI_API_KEY"),
        (["--mlab-llm=openai:m@http://127.0.0.1:1/v1", "--mlab-edit-llm=nobody"], "no such"),
        (["--mlab-budget=0"], '--mlab-budget: "0" is not above 0'),
        (["--mlab-budget=much"], '--mlab-budget: "much" is not an amount'),
        (
            ["--mlab-llm=openai:m@https://example.org/v1", "--mlab-budget=1"],
            "--mlab-budget: the price of openai:m@https://example.org/v1 is not known",
        ),
    ],
)
def test_is_refused_before_any_task_runs(run_session: Run, options: list[str], told: str) -> None:
    ran = run_session(*options)
    assert ran.outcome.ret == pytest.ExitCode.USAGE_ERROR
    assert told in ran.text
    assert not ran.trials


def test_a_key_is_not_needed_for_who_does_not_ask(run_session: Run) -> None:
    ran = run_session("--mlab-llm=gpt-4", "--mlab-agent=solution")
    ran.outcome.assert_outcomes(passed=1)
    assert ran.results[0].llm is None


def test_agents_times_llms(serve: Serve, run_session: Run) -> None:
    server = serve(*SOLVE)
    other = server.name.replace("scripted", "other")
    ran = run_session(
        *("--mlab-agent=tools", "--mlab-agent=react", "--mlab-agent=baseline"),
        *(f"--mlab-llm={server.name}", f"--mlab-llm={other}", "--collect-only", "-q"),
    )
    assert ran.text.count("test_beats_baseline[threshold-") == 5


@pytest.mark.parametrize("fast", [False, True])
def test_each_role_asks_its_own_llm(serve: Serve, run_session: Run, fast: bool) -> None:
    main = serve(
        step("Understand File", file_name="train.py", things_to_look_for="x"),
        *([] if fast else [Said("A script.")]),
        step("Final Answer", final_answer="Done."),
    )
    helper = serve(Said("A script."))
    option = [f"--mlab-fast-llm={helper.name}"] if fast else []
    run_session(f"--mlab-llm={main.name}", *option)
    assert (len(main.requests), len(helper.requests)) == ((2, 1) if fast else (3, 0))


def test_without_a_sandbox_nobody_asks_unless_told_so(
    serve: Serve, run_session: Run, pytester: pytest.Pytester
) -> None:
    server = serve(*SOLVE)
    pytester.makeconftest(
        """
        from pytest_mlab import sandbox, session
        session.find_sandbox = lambda *asked: sandbox.find_sandbox("none")
        """
    )
    options = ["--mlab-agent=tools", f"--mlab-llm={server.name}", "--rootdir=.", "--confcutdir=."]
    refused = run_session(*options, "-p", "conftest")
    assert refused.outcome.ret == pytest.ExitCode.USAGE_ERROR
    assert "would write code that runs unconfined" in refused.text
    assert "--mlab-sandbox=none" in refused.text
    allowed = run_session(*options, "-p", "conftest", "--mlab-sandbox=none")
    allowed.outcome.assert_outcomes(passed=1)
    assert find_sandbox("none").name == "none"


PRICED = """
    import dataclasses
    from pytest_mlab.llm import lookup

    def pytest_mlab_make_llm(config, name):
        if name.startswith("priced-"):
            spec = lookup("openai:gpt-4@" + name.removeprefix("priced-"))
            return dataclasses.replace(spec, name=name, provider="openai", free=False)
"""


def test_a_budget_ends_the_session_not_the_verdicts(
    serve: Serve, run_session: Run, pytester: pytest.Pytester
) -> None:
    """Trials of which it does not hold the first call are left for later, and none fails."""
    server = serve(*SOLVE, *SOLVE)
    url = server.name.partition("@")[2]
    pytester.makeconftest(PRICED)
    options = ["--mlab-agent=tools", f"--mlab-llm=priced-{url}", "-p", "conftest"]
    whole = run_session(*options, "--mlab-budget=10")
    whole.outcome.assert_outcomes(passed=1)
    assert whole.results[0].usage.cost_usd > 0
    spent = run_session(*options, "--mlab-budget=0.001", "--mlab-trials=2")
    spent.outcome.assert_outcomes(skipped=2)
    assert "(2): not run: budget: 0.001 USD do not hold it" in spent.text
    assert len(server.requests) == 3


def test_a_cost_limit_ends_the_turn(
    serve: Serve, run_session: Run, pytester: pytest.Pytester
) -> None:
    server = serve(*SOLVE)
    pytester.makeconftest(PRICED)
    name = f"priced-{server.name.partition('@')[2]}"
    ran = run_session(
        "--mlab-agent=tools", f"--mlab-llm={name}", "-p", "conftest", "--mlab-max-cost=0.0001"
    )
    assert ran.results[0].stop == "cost"
    assert not server.requests


def test_an_answer_that_takes_too_long_ends_the_turn(serve: Serve, run_session: Run) -> None:
    """What lies in the workspace by then is scored."""
    server = serve(*SOLVE)
    server.canned.answers[-1].delay = 60
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}", "--mlab-timeout=4")
    ran.outcome.assert_outcomes(passed=1)
    (result,) = ran.results
    assert result.stop == "time"
    assert 4 <= result.seconds < 8


def test_a_replay_plays_all_roles(serve: Serve, run_session: Run) -> None:
    main = serve(
        step("Understand File", file_name="train.py", things_to_look_for="x"),
        step("Final Answer", final_answer="Done."),
    )
    fast = serve(Said("A script."))
    first = run_session(f"--mlab-llm={main.name}", f"--mlab-fast-llm={fast.name}")
    again = run_session(
        f"--mlab-llm=replay:{first.trials[0]}", "--mlab-fast-llm=gpt-4", "-n2", "--mlab-trials=1"
    )
    assert [result.stop for result in again.results] == ["submitted", "submitted"]
    assert (len(main.requests), len(fast.requests)) == (2, 1)


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_a_provider_that_fails_is_an_error_not_a_failure(
    serve: Serve, run_session: Run, status: int
) -> None:
    server = serve(*SOLVE)
    for answer in server.canned.answers:
        answer.status, answer.body = status, {"error": {"message": "no"}}
        answer.headers = {"retry-after": "0"}
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}")
    ran.outcome.assert_outcomes(errors=1)
    assert ran.results[0].status == "infra-error"


def test_an_llm_of_ones_own(run_session: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from pytest_mlab.llm import Reply, ToolCall

        class Mine:
            name = "mine"

            def complete(self, request):
                assert request.tools
                call = ToolCall("1", "final_answer", '{"final_answer": "Done."}')
                return Reply(text="", tool_calls=(call,), stop="tool")

        def pytest_mlab_make_llm(config, name):
            if name == "mine":
                return Mine()
        """
    )
    ran = run_session("--mlab-agent=tools", "--mlab-llm=mine", "-p", "conftest")
    ran.outcome.assert_outcomes(failed=1)
    assert (ran.results[0].llm, ran.results[0].stop) == ("mine", "submitted")


def test_a_fixture_may_take_the_llms_place(
    serve: Serve, run_session: Run, pytester: pytest.Pytester
) -> None:
    server = serve(*SOLVE)
    folder = make_task(
        pytester.path / "tasks",
        files={
            "conftest.py": """
import pytest

class Counting:
    def __init__(self, llm):
        self.name, self.llm, self.calls = llm.name, llm, 0

    def complete(self, request):
        self.calls += 1
        return self.llm.complete(request)

@pytest.fixture
def mlab_llm(mlab_llm):
    counting = Counting(mlab_llm)
    yield counting
    print("calls:", counting.calls)
"""
        },
    )
    ran = run_session("--mlab-agent=tools", f"--mlab-llm={server.name}", "-s", task=str(folder))
    assert "calls: 3" in ran.text


@pytest.mark.parametrize("protocol", ["", "openai", "anthropic"])
def test_no_sdk_is_loaded_but_the_one_that_is_asked(
    serve: Serve, run_session: Run, pytester: pytest.Pytester, protocol: str
) -> None:
    """Looked at when all is over, for loading one then would cost as much."""
    pytester.makeconftest(
        """
        import atexit, sys
        atexit.register(lambda: print("loaded:", *(
            name for name in ("anthropic", "openai", "sklearn") if name in sys.modules
        )))
        """
    )
    options = ["--mlab-agent=baseline"]
    if protocol:
        options = ["--mlab-agent=tools", f"--mlab-llm={serve(*SOLVE, protocol=protocol).name}"]
    ran = run_session(*options, "-p", "conftest", "-s")
    loaded = ran.outcome.stdout.str().rpartition("loaded:")[2].split()
    assert loaded == ([protocol] if protocol else [])


def test_two_agents_play_back_their_own_recordings_side_by_side(
    serve: Serve, run_session: Run
) -> None:
    one = (
        step("Execute Script", script_name="train.py"),
        step("Final Answer", final_answer="Done."),
    )
    server = serve(*one, *one)
    agents = ("--mlab-agent=react", "--mlab-agent=research")
    first = run_session(*agents, f"--mlab-llm={server.name}", "--mlab-results=recorded")
    recorded = first.folder / "recorded"
    again = run_session(*agents, f"--mlab-llm=replay:{recorded}", "-n2")
    assert sorted((result.agent, result.stop, result.score) for result in again.results) == [
        ("react", "submitted", 0.7),
        ("research", "submitted", 0.7),
    ]
    assert len(server.requests) == 4
