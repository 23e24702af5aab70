"""The real small model plays the agents: badly, but every step of its is a valid action."""

from collections.abc import Callable

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.exceptions import ActionError, Unavailable
from pytest_mlab.llm.local import require
from pytest_mlab.llm_actions import LLM_ACTIONS
from pytest_mlab.results import ERRORS
from tests.agents.conftest import Ran

try:
    require()
except Unavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

Run = Callable[..., Ran]

EVERY = {action.name: action for action in (*ACTIONS, *LLM_ACTIONS)}


@pytest.fixture(autouse=True)
def meeting_place(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the tests' server meet no user's."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))


@pytest.mark.parametrize("llm", ["local", "local-anthropic"])
@pytest.mark.parametrize("agent", ["research", "tools"])
def test_every_step_is_a_valid_action(run_session: Run, agent: str, llm: str) -> None:
    ran = run_session(
        *(f"--mlab-agent={agent}", f"--mlab-llm={llm}"),
        *("--mlab-max-steps=3", "--mlab-timeout=300"),
        task="tasks/digits",
    )
    (result,) = ran.results
    # How far it gets is a matter of luck and of the machine; what it does on the way is not.
    assert result.status not in ERRORS | {"agent-error"}, ran.text
    assert result.usage.output_tokens > 0
    events = ran.events()
    assert len(events) <= 3
    assert events or result.stop in {"gave-up", "time"}
    for event in events:
        try:
            EVERY[event["action"]].check(event["arguments"])
        except ActionError as error:
            pytest.fail(str(error))
    asked = [call for call in ran.calls() if call["role"] == "main"]
    assert len(asked) >= len(events)
