"""The examples of docs/your-own-agent.md and docs/ci.md, run as the pages say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.agents.conftest import Ran, Serve, no_keys, serve
from tests.agents.scripted import code

__all__ = ["no_keys", "serve"]

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples"
PAGES = {
    "your-own-agent.md": ["my_agent.py", "pytest.ini", "test_my_agent.py"],
    "ci.md": ["agents.yml", "gitlab-ci.yml"],
}
NAMES = [(page, name) for page, names in PAGES.items() for name in names]
RECORD = "pytest tasks/digits --mlab-llm=gpt-4 --mlab-results=recorded --mlab-json=baseline.json"
SCHEMAS = {"agents.yml": "vendor.github-workflows", "gitlab-ci.yml": "vendor.gitlab-ci"}


def read(name: str) -> dict[str, Any]:
    """Read a workflow."""
    content: dict[str, Any] = YAML(typ="safe").load(EXAMPLES / name)
    return content


def github_steps(job: str) -> list[str]:
    """Give what a job of the workflow runs, but for what sets the machine up."""
    steps = [step["run"] for step in read("agents.yml")["jobs"][job]["steps"] if "run" in step]
    return [step for step in steps if not step.startswith(("pip install", "sudo"))]


@pytest.mark.parametrize(("page", "name"), NAMES)
def test_the_page_shows_the_files(page: str, name: str) -> None:
    shown = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert (EXAMPLES / name).read_text(encoding="utf-8").strip() in shown


@pytest.mark.parametrize("name", SCHEMAS)
def test_workflows_hold_to_their_schemas(name: str) -> None:
    arguments = ["--builtin-schema", SCHEMAS[name], str(EXAMPLES / name)]
    if name == "gitlab-ci.yml":
        arguments[:0] = ["--data-transform", "gitlab-ci"]
    command = [sys.executable, "-m", "check_jsonschema", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_gitlab_runs_what_github_runs() -> None:
    workflow = read("gitlab-ci.yml")
    for job in ("replay", "live"):
        assert workflow[job]["script"] == github_steps(job)[:1]


@pytest.mark.slow
def test_the_pages_are_true(serve: Serve, pytester: pytest.Pytester) -> None:
    """Recorded once, replayed on each push, live every night; a changed agent is told."""
    for name in PAGES["your-own-agent.md"]:
        shutil.copy(EXAMPLES / name, pytester.path)
    solution = (ROOT / "tasks" / "digits" / "solution" / "train.py").read_text(encoding="utf-8")
    server = serve(*[code(solution)] * 6)
    summary = pytester.path / "summary.md"
    environment = os.environ | {
        "GITHUB_STEP_SUMMARY": str(summary),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }

    def run(step: str) -> None:
        command = step.replace("=gpt-4", f"={server.name}").replace("trials=8", "trials=1")
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
        done = subprocess.run(
            shell, cwd=pytester.path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    assert RECORD in (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    run(RECORD)
    assert len(server.requests) == 2

    for step in github_steps("replay"):
        run(step)
    assert len(server.requests) == 2
    assert (pytester.path / "report.xml").exists()
    assert (pytester.path / "report.html").exists()
    assert "### Success rate" in summary.read_text()

    for step in github_steps("live"):
        run(step)
    assert len(server.requests) == 4
    assert 'gate_verdict" value="pass' in (pytester.path / "report.xml").read_text()
    assert "against my_agent:MyAgent" in summary.read_text().replace("\\", "")

    mine = pytester.path / "my_agent.py"
    mine.write_text(mine.read_text().replace("a better script", "a much better script"))
    outcome = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "tasks/digits", "--mlab-llm=replay:recorded"
    )
    changed = Ran(outcome, pytester.path)
    changed.outcome.assert_outcomes(errors=1)
    assert "call 1 (main) is not as in" in changed.text
    assert "a much better script" in changed.text
