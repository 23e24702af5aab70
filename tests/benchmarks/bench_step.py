"""What a step costs on top of what it starts: ``python -m tests.benchmarks.bench_step``.

One turn is List Files, Inspect Script Lines, Write File and Execute Script (a one-line script). It
is held against starting that script in the same sandbox with nothing around it, turn by turn.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_mlab.actions import ACTIONS
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.sandbox import View, find_sandbox
from pytest_mlab.task import Baseline, Metric, Task
from pytest_mlab.trace import Trace
from pytest_mlab.workbench import Workbench
from pytest_mlab.workspace import Workspace
from tests.benchmarks.measure import report

TURNS = 260
STEPS = 4
SCRIPT = "print('hello')\n"


def make_task(folder: Path) -> Task:
    """Make the least that an environment needs to know of a task."""
    return Task(
        name="bench",
        folder=folder,
        title="Bench",
        instruction="",
        workspace=folder,
        scorer=folder / "score.py",
        metric=Metric("accuracy", "maximize"),
        baseline=Baseline(0.5),
    )


def time_turn(environment: Environment, bare: Callable[[], None]) -> float:
    """Give what a turn of four steps costs on top of the bare process, per step, in ms."""
    start = time.perf_counter()
    environment.act("List Files", dir_path=".")
    environment.act(
        "Inspect Script Lines", script_name="hello.py", start_line_number=1, end_line_number=1
    )
    environment.act("Write File", file_name="hello.py", content=SCRIPT)
    observation = environment.act("Execute Script", script_name="hello.py")
    turn = time.perf_counter() - start
    assert "hello" in observation.text
    start = time.perf_counter()
    bare()
    return (turn - (time.perf_counter() - start)) / STEPS * 1000


def main() -> None:
    """Time a thousand steps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        root, public = folder / "workspace", folder / "public"
        root.mkdir()
        public.mkdir()
        (root / "hello.py").write_text(SCRIPT)
        sandbox = find_sandbox("auto")
        view = View(writable=root, readable=(public,))
        workbench = Workbench(Workspace(root, public), sandbox, view, folder / "outputs")
        environment = Environment(
            make_task(folder),
            workbench,
            actions=ACTIONS,
            limits=Limits(seconds=3600, steps=10_000),
            trace=Trace(folder / "trace.jsonl"),
        )
        environment.start()
        command = sandbox.command([sys.executable, str(root / "hello.py")], view)
        variables = sandbox.environment(view)

        def bare() -> None:
            subprocess.run(command, cwd=root, env=variables, capture_output=True, check=True)

        costs = [time_turn(environment, bare) for _ in range(TURNS)]
    print(f"sandbox {sandbox.name}, {TURNS * STEPS} steps")
    report("a step beyond its process", statistics.median(costs), "ms", 3.0)
    early, late = statistics.median(costs[1:20]), statistics.median(costs[-20:])
    print(f"the steps around the 10th: {early:.2f} ms, around the 1,000th: {late:.2f} ms")


if __name__ == "__main__":
    main()
