"""The real small model behind a real server, over both SDKs; needs the extra ``local``."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_mlab.exceptions import Unavailable
from pytest_mlab.llm import LLM, Message, Request, Spec, Tool, connect, lookup
from pytest_mlab.llm.errors import TooLong
from pytest_mlab.llm.local import require
from pytest_mlab.llm.openai_responses import OpenAIResponses

try:
    require()
except Unavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

NAMES = ("local", "local-anthropic")
LIKELIEST = Request(messages=(Message.user("Say hello in one short sentence."),), temperature=0.0)
"""A question that is always answered the same: no test here depends on luck."""
TOOLS = tuple(
    Tool(
        name,
        description,
        {
            "type": "object",
            "properties": {argument: {"type": "string", "maxLength": 40}},
            "required": [argument],
            "additionalProperties": False,
        },
    )
    for name, description, argument in (
        ("list_files", "List a folder.", "dir_path"),
        ("execute_script", "Run a script.", "script_name"),
        ("final_answer", "Submit.", "final_answer"),
    )
)


@pytest.fixture(scope="module", autouse=True)
def meeting_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the tests' server meet no user's."""
    patch = pytest.MonkeyPatch()
    patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("local")))
    yield
    patch.undo()


@pytest.fixture(params=NAMES)
def llm(request: pytest.FixtureRequest) -> LLM:
    """Give the local model over one of the SDKs."""
    return connect(lookup(request.param))


def test_it_talks_and_counts(llm: LLM) -> None:
    reply = llm.complete(replace(LIKELIEST, system="You are kind.", max_tokens=40))
    assert reply.text.strip()
    assert reply.stop in {"end", "length"}
    assert reply.usage.input_tokens > 10
    assert 0 < reply.usage.output_tokens <= 40
    assert reply.usage.cost_usd == 0
    assert reply.model == "SmolLM2-135M-Instruct"


def test_it_stops_where_it_is_told(llm: LLM) -> None:
    reply = llm.complete(replace(LIKELIEST, max_tokens=5))
    assert reply.stop == "length"
    assert reply.usage.output_tokens == 5
    # The first of these comes soon in whatever it says.
    stops = (" ", ".", ",", "!")
    reply = llm.complete(replace(LIKELIEST, stop=stops))
    assert not any(stop in reply.text for stop in stops)
    if llm.name == "local-anthropic":  # the other protocol does not tell
        assert reply.stop == "stop-sequence"


def test_a_prompt_that_is_too_long_for_it(llm: LLM) -> None:
    with pytest.raises(TooLong, match="context"):
        llm.complete(Request(messages=(Message.user("word " * 9000),)))


def test_every_step_is_a_call_of_a_tool_with_its_arguments(llm: LLM) -> None:
    messages = [Message.user("Improve the accuracy of train.py, then submit.")]
    for _ in range(3):
        reply = llm.complete(replace(LIKELIEST, messages=tuple(messages), tools=TOOLS))
        assert reply.stop == "tool"
        [call] = reply.tool_calls
        tool = next(tool for tool in TOOLS if tool.name == call.name)
        assert call.parse().keys() == set(tool.parameters["required"])
        messages += [reply.message(), Message.tool_result(call.id, "train.py  data")]


def test_every_step_is_an_entry_of_the_form(llm: LLM) -> None:
    form = {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "Thought": {"type": "string", "maxLength": 60},
                    "Action": {"const": tool.name},
                    "Action Input": dict(tool.parameters),
                },
                "required": ["Thought", "Action", "Action Input"],
                "additionalProperties": False,
            }
            for tool in TOOLS
        ]
    }
    reply = llm.complete(replace(LIKELIEST, form=form))
    thought, action, arguments = reply.text.rsplit("\n", 2)
    assert thought.startswith("Thought: ")
    name = action.removeprefix("Action: ")
    tool = next(tool for tool in TOOLS if tool.name == name)
    assert json.loads(arguments.removeprefix("Action Input: ")).keys() == set(
        tool.parameters["required"]
    )


def test_json_of_a_schema(llm: LLM) -> None:
    schema = {
        "type": "object",
        "properties": {"size": {"enum": ["small", "large"]}},
        "required": ["size"],
        "additionalProperties": False,
    }
    reply = llm.complete(replace(LIKELIEST, json_schema=schema))
    assert json.loads(reply.text)["size"] in {"small", "large"}


def test_the_same_server_speaks_openais_responses() -> None:
    """The third protocol, where OpenAI's own models answer; here as text and as a call."""
    url = connect(lookup("local")).spec.base_url  # type: ignore[attr-defined]
    spec = Spec(name="r", model="m", protocol="openai-responses", base_url=url, free=True)
    llm = OpenAIResponses(spec)
    reply = llm.complete(replace(LIKELIEST, system="You are kind.", max_tokens=20))
    assert reply.text.strip()
    assert 0 < reply.usage.output_tokens <= 20
    request = replace(LIKELIEST, tools=TOOLS, tool_choice="required", max_tokens=200)
    reply = llm.complete(request)
    assert reply.stop == "tool"
    assert reply.tool_calls[0].name in {tool.name for tool in TOOLS}


class TestServer:
    """One for all processes, as long as one of them lives."""

    USER = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from pytest_mlab.llm.local import serve\n"
        "print(serve(), flush=True); sys.stdin.read()\n"
    )

    def use(self, folder: Path) -> subprocess.Popen[str]:
        """Start a process that uses the server until it is killed."""
        return subprocess.Popen(
            [sys.executable, "-c", self.USER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def test_it_is_shared_and_ends_after_the_last_even_if_all_are_killed(
        self, tmp_path: Path
    ) -> None:
        users = [self.use(tmp_path) for _ in range(3)]
        try:
            addresses = {user.stdout.readline().strip() for user in users if user.stdout}
            [address] = addresses
            users[0].kill()
            users[1].kill()
            time.sleep(1.5)
            assert is_up(address)
        finally:
            for user in users:
                user.kill()
                user.communicate()
        deadline = time.monotonic() + 20
        while is_up(address) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not is_up(address)


def is_up(address: str) -> bool:
    """Say whether a server answers."""
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=2):
            return True
    except OSError:
        return False
