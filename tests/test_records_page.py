"""docs/records.md: its commands do what they are there for, on what a session really leaves."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_mlab import resuming, runs
from pytest_mlab.curves import FILE as SCORES
from pytest_mlab.llm.record import FILE as CALLS
from tests.projects import Project

PAGE = (Path(__file__).parents[1] / "docs" / "records.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.+)$", PAGE, flags=re.MULTILINE)


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_the_commands_work(project: Project) -> None:
    project.task("cut")
    project.run("-p", "no:xdist", "tasks", "--mlab-agent=agents:solve").assert_outcomes(passed=1)
    shown = {}
    (trial,) = COMMANDS[:1]
    for command in COMMANDS[1:]:
        if command.startswith("jq") and not shutil.which("jq"):
            continue
        run = subprocess.run(
            ["sh", "-ec", f"{trial}\n{command.replace('less ', 'cat ')}"],
            cwd=project.path,
            capture_output=True,
            text=True,
            check=True,
        )
        shown[command] = run.stdout
    log = next(text for command, text in shown.items() if command.endswith("log --oneline"))
    assert [line.split(" ", 1)[1] for line in log.splitlines()][::-1] == [
        "start: the fresh workspace",
        "step 1: Read File train.py",
        "step 2: Write File train.py",
        "step 3: Execute Script train.py",
        "step 4: Final Answer cut at 4",
        "end: submitted",
    ]
    whole = next(text for command, text in shown.items() if command.endswith("-p --reverse"))
    assert "-CUT = 1\n+CUT = 4\n" in whole
    assert (project.path / "step3" / "submission.csv").exists()
    if shutil.which("jq"):
        assert any("Execute Script  true" in text for text in shown.values())
        assert any(text.startswith("cut\tagents:solve\tsuccess\t1") for text in shown.values())


def test_the_layout_names_every_file(project: Project) -> None:
    project.task("cut")
    options = ("--mlab-agent=agents:solve", "--mlab-eval-steps")
    project.run("-p", "no:xdist", "tasks", *options).assert_outcomes(passed=1)
    layout = PAGE.split("```")[1]
    named = set(re.findall(r"^ +([a-z_.]+)(?:/\S*)? {2,}", layout, flags=re.MULTILINE))
    (session,) = project.sessions
    (trial,) = (path for path in session.iterdir() if path.is_dir())
    there = {path.name for folder in (session.parent, session, trial) for path in folder.iterdir()}
    there -= {".gitignore", session.name, trial.name}
    assert there <= named
    known = {runs.RESEARCH_LOG, CALLS, SCORES, resuming.LATEST}
    assert named - {"outputs"} <= there | known
