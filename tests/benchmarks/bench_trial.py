"""What a trial costs beyond the scorer's own process: ``python -m tests.benchmarks.bench_trial``.

The agent submits at once, the scorer returns at once; sessions of many trials are held against a
session of one, and against starting as many scoring processes bare. Also the time of a whole
session of one trial, without the other plugins that this project's tests bring along.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import report, run_once, time_calls
from tests.projects import BLOCKED

TRIALS = 41

TASK = """\
format = "mlab/1"
title = "Bench"
[submission]
file = "submission.txt"
[metric]
name = "score"
goal = "maximize"
[baseline]
score = 1.0
"""
CONFTEST = """\
class Agent:
    def run(self, environment):
        environment.act("Write File", file_name="submission.txt", content="2")
        environment.act("Final Answer", final_answer="")


def pytest_mlab_make_agent(config, name):
    return Agent()
"""


def make_project(root: Path) -> None:
    """Make a task whose trials take no time of their own."""
    folder = root / "tasks" / "bench"
    (folder / "workspace").mkdir(parents=True)
    (folder / "task.toml").write_text(TASK)
    (folder / "instruction.md").write_text("Submit.\n")
    (folder / "score.py").write_text("def score(submission, private):\n    return 2.0\n")
    (folder / "workspace" / "train.py").write_text("")
    (root / "conftest.py").write_text(CONFTEST)


def time_bare_scoring(folder: Path) -> float:
    """Give the median time to start the scoring process, with nothing around it, in seconds."""
    from pytest_mlab.children import CHILD_ENVIRONMENT, PACKAGE, child_command
    from pytest_mlab.sandbox import View, find_sandbox

    sandbox = find_sandbox("auto")
    scorer = folder / "tasks" / "bench" / "score.py"
    view = View(
        writable=folder,
        readable=(PACKAGE,),
        environment=CHILD_ENVIRONMENT,
    )
    child = child_command("score", "1", str(scorer), str(scorer), str(folder))
    command = sandbox.command(child, view)
    variables = sandbox.environment(view)

    def bare() -> None:
        subprocess.run(
            command, cwd=folder, env=variables, input=b"token\n", capture_output=True, check=True
        )

    return statistics.median(time_calls(bare, 15))


def main() -> None:
    """Time sessions of one trial and of many."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        make_project(root)
        blocked = [part for name in ("cacheprovider", *BLOCKED) for part in ("-p", f"no:{name}")]
        pytest = [sys.executable, "-m", "pytest", "-q", *blocked, "tasks"]
        one = [*pytest, "--mlab-agent=bench"]
        many = [*one, f"--mlab-trials={TRIALS}"]
        run_once(one, root)
        pairs = [(run_once(one, root), run_once(many, root)) for _ in range(5)]
        each = statistics.median(
            (long.seconds - short.seconds) / (TRIALS - 1) for short, long in pairs
        )
        first = statistics.median(short.seconds for short, _ in pairs)
        scoring = time_bare_scoring(root)
    print(f"a trial {each * 1000:.1f} ms, of which the scoring process {scoring * 1000:.1f} ms")
    report("a trial beyond its scoring process", (each - scoring) * 1000, "ms", 30)
    report("a session of one trial, from start to end", first, "s", 0.6)


if __name__ == "__main__":
    main()
