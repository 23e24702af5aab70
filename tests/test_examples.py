"""The examples of docs/your-own-agent.md, run as the page says."""

import re
import shutil
from pathlib import Path

import pytest

from tests.agents.conftest import Ran, Serve, no_keys, serve
from tests.agents.scripted import code

__all__ = ["no_keys", "serve"]

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples"
PAGE = (ROOT / "docs" / "your-own-agent.md").read_text(encoding="utf-8")
NAMES = ["my_agent.py", "pytest.ini", "test_my_agent.py", "agents.yml"]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_the_files(name: str) -> None:
    assert (EXAMPLES / name).read_text(encoding="utf-8").strip() in PAGE


@pytest.mark.slow
def test_the_page_is_true(serve: Serve, pytester: pytest.Pytester) -> None:
    """Recorded once, replayed ever after; a changed agent is told where it differs."""
    for name in NAMES:
        shutil.copy(EXAMPLES / name, pytester.path)
    solution = (ROOT / "tasks" / "digits" / "solution" / "train.py").read_text(encoding="utf-8")

    def run(*options: str) -> Ran:
        outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)
        return Ran(outcome, pytester.path)

    one_trial = [code(solution), code(solution)]
    server = serve(*one_trial, *one_trial)
    first = run("tasks/digits", f"--mlab-llm={server.name}", "--mlab-results=recorded")
    first.outcome.assert_outcomes(passed=1)
    assert len(server.requests) == 2

    workflow = (EXAMPLES / "agents.yml").read_text(encoding="utf-8")
    command = re.search(r"- run: pytest (.*)", workflow)
    assert command is not None
    gate = run(*command[1].split())
    gate.outcome.assert_outcomes(passed=2)
    assert (pytester.path / "report.xml").exists()
    assert len(server.requests) == 2

    mine = pytester.path / "my_agent.py"
    mine.write_text(mine.read_text().replace("a better script", "a much better script"))
    changed = run("tasks/digits", "--mlab-llm=replay:recorded")
    changed.outcome.assert_outcomes(errors=1)
    assert "call 1 (main) is not as in" in changed.text
    assert "a much better script" in changed.text
