"""Whatever an agent leaves in its workspace, its trial ends, is scored and is recorded."""

from pathlib import Path

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.environment import Environment
from pytest_mlab.history import read_history
from pytest_mlab.runs import HISTORY, TRACE
from pytest_mlab.sandbox import find_sandbox
from pytest_mlab.trace import read_trace
from pytest_mlab.trial import run_trial
from pytest_mlab.world import open_environment
from tests.folders import SOLUTION, load
from tests.worlds import make_setup

LITTER = {
    "many small files": """
for folder in range(20):
    os.mkdir(f"{folder}")
    for number in range(1000):
        open(f"{folder}/{number}.py", "w").close()
""",
    "names": """
odd = (b"new\\nline", b"quo\\"te's", b"\\xff\\xfe", b"-rf", b" ", b"\\x1b[2J", b"*")
for name in (*odd, b"x" * 255):
    open(name, "w").close()
    os.mkdir(name[:250] + b".d")
    open(name[:250] + b".d/train.py", "w").close()
""",
    "a path longer than the system takes": """
for _ in range(40):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("deep.py", "w").close()
""",
    "pipes and sockets": """
import socket
for name in ("notes.py", "README.md", "data.csv"):
    os.mkfifo(name)
socket.socket(socket.AF_UNIX).bind("socket.py")
""",
    "files of absurd size": """
for name in ("big.py", "big.csv", "research_log.txt"):
    open(name, "w").close()
    os.truncate(name, 9 * 2**30)
""",
    "a repository": """
os.makedirs(".git/hooks")
os.makedirs("below/.git")
open(".git/config", "w").write("[core]\\n\\tfsmonitor = touch ran; false\\n\\tworktree = /\\n")
open(".git/hooks/pre-commit", "w").write("#!/bin/sh\\ntouch ran\\n")
os.chmod(".git/hooks/pre-commit", 0o755)
open(".gitattributes", "w").write("* filter=evil\\n")
open("below/.git/HEAD", "w").write("gitdir: /\\n")
""",
    "links": """
os.symlink("itself", "itself")
os.symlink("..", "up")
os.symlink("/", "everything")
os.symlink("/dev/zero", "zero.py")
""",
    "what may not be read": """
os.makedirs("closed/below")
open("closed/below/x.py", "w").close()
open("closed.py", "w").close()
os.chmod("closed.py", 0)
os.chmod("closed", 0)
""",
}


class Litterer:
    """Leaves something, looks at it by actions, then does the task."""

    asks_llm = False

    def __init__(self, script: str) -> None:
        self.script = f"import os\n{script}"

    def run(self, environment: Environment) -> None:
        """Act."""
        environment.act("Write File", file_name="litter.py", content=self.script)
        made = environment.act("Execute Script", script_name="litter.py")
        assert made.ok, made.text
        for name in ("notes.py", "big.py", "zero.py", "closed.py"):
            environment.act("Read File", file_name=name)
        environment.act("List Files", dir_path=".")
        environment.act("Write File", file_name="train.py", content=SOLUTION)
        environment.act("Execute Script", script_name="train.py")
        environment.act("Final Answer", final_answer="")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", ["none", "auto"])
@pytest.mark.parametrize("litter", LITTER)
def test_the_trial_succeeds_all_the_same(tmp_path: Path, litter: str, kind: str) -> None:
    sandbox = find_sandbox(kind)
    if sandbox.name != kind and sandbox.name == "none":
        pytest.skip("no sandbox works here")
    if "sockets" in litter and sandbox.name == "landlock":
        pytest.skip("there are no sockets in it")
    setup = make_setup(tmp_path / "trial", load(tmp_path), sandbox=sandbox, eval_steps=True)
    with open_environment(setup, ACTIONS) as environment:
        result = run_trial(setup, Litterer(LITTER[litter]), environment)
    assert (result.status, result.stop, result.score) == ("success", "submitted", 1.0), result
    # so many that the history does not come as far as the submission
    assert result.best_score == (None if "many" in litter else 1.0)
    steps = [event for event in read_trace(setup.folder / TRACE) if event["event"] == "step"]
    assert len(steps) == result.steps == 10
    assert len(read_history(setup.folder / HISTORY)) >= 10
    assert not (setup.workspace.root / "ran").exists()
