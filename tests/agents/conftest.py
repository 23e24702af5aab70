"""Whole sessions of pytest with agents that ask scripted language models."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.results import Result
from pytest_mlab.trace import read_trace
from tests.agents.scripted import Said, name_llm, speak
from tests.folders import make_task
from tests.llm.servers import Canned, serve_canned


@dataclass(frozen=True)
class Scripted:
    """A language model that answers by a script, under the name that the command line takes."""

    name: str
    canned: Canned

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What it was asked so far."""
        return self.canned.requests


Serve = Callable[..., Scripted]


@dataclass(frozen=True)
class Ran:
    """A session of pytest that is over."""

    outcome: pytest.RunResult
    folder: Path

    @property
    def text(self) -> str:
        """All that it printed."""
        return self.outcome.stdout.str() + self.outcome.stderr.str()

    @property
    def trials(self) -> list[Path]:
        """The folders of its trials, by name."""
        return sorted(path.parent for path in self.folder.glob(".mlab/*/*/identity.json"))

    @property
    def results(self) -> list[Result]:
        """What came of its trials."""
        return [Result.from_json((trial / "result.json").read_text()) for trial in self.trials]

    def events(self, kind: str = "step") -> list[dict[str, Any]]:
        """What happened in its only trial."""
        (trial,) = self.trials
        return [event for event in read_trace(trial / "trace.jsonl") if event["event"] == kind]

    def calls(self) -> list[dict[str, Any]]:
        """What was asked and answered in its only trial."""
        (trial,) = self.trials
        return [json.loads(line) for line in (trial / "llm.jsonl").read_text().splitlines()][1:]


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> str:
    """Give one of the two SDKs' protocols."""
    return str(request.param)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on, or spend, what its user has in the environment."""
    for vendor in ("OPENAI", "ANTHROPIC", "GEMINI", "OPENROUTER"):
        monkeypatch.delenv(f"{vendor}_API_KEY", raising=False)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Give a function that serves answers of a script, one after the other."""
    with ExitStack() as stack:

        def start(*script: Said, protocol: str = "openai") -> Scripted:
            answers = [speak(said, protocol) for said in script]
            canned = stack.enter_context(serve_canned(*answers))
            return Scripted(name_llm(canned.url, protocol), canned)

        yield start


@pytest.fixture
def run_session(pytester: pytest.Pytester) -> Callable[..., Ran]:
    """Give a function that runs pytest with the options it is given, on a tiny task by default."""

    def run(*options: str, task: str | None = None) -> Ran:
        folder = task or str(make_task(pytester.path / "tasks"))
        outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider", folder, *options)
        return Ran(outcome, pytester.path)

    return run
