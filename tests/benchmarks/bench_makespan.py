"""How long a night of trials takes under each of xdist's schedulers, beside the least it could.

13 tasks of 8 trials, whose lengths are lognormal between tasks and within them; they sleep, so
that what is measured is the order alone, with the real xdist, from the start of the first trial to
the end of the last. Of each task, our scheduler knows what its author would have stated: the mean
of its trials. Figures are makespans over the lower bound max(longest, total / workers).

``python -m tests.benchmarks.bench_makespan [SEED]``
"""

import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.measure import report
from tests.folders import make_task

TASKS, TRIALS = 13, 8
WORKERS = (2, 4, 8)
BOUND = 10.0
"""Seconds of a worker's share: xdist's own milliseconds between two items weigh less than 1 %."""
TARGET = 1.10
BETWEEN, WITHIN = 1.2, 0.5

CONFTEST = """
import os

def pytest_xdist_make_scheduler(config, log):
    if os.environ.get("PLAIN_LOAD"):
        from xdist.scheduler import LoadScheduling
        return LoadScheduling(config, log)
"""
TESTS = """
import json, os, time
from pathlib import Path
import pytest

SECONDS = json.loads(Path(__file__).with_name("seconds.json").read_text())

@pytest.mark.mlab_task("tasks/*")
def test_sleeps(mlab_trial, mlab_agent):
    begun = time.monotonic()
    time.sleep(SECONDS[f"{mlab_trial.task.name} {mlab_trial.number}"])
    with open(os.environ["LOG"], "a") as log:
        print(begun, time.monotonic(), file=log)
"""


def draw_seconds(seed: int, total: float) -> dict[tuple[int, int], float]:
    """Draw the length of each trial; together they make ``total``."""
    chance = random.Random(seed)
    means = [chance.lognormvariate(0, BETWEEN) for _ in range(TASKS)]
    drawn = {
        (task, trial): means[task] * chance.lognormvariate(0, WITHIN)
        for task, trial in itertools.product(range(TASKS), range(1, TRIALS + 1))
    }
    scale = total / sum(drawn.values())
    return {key: seconds * scale for key, seconds in drawn.items()}


def make_project(root: Path, seconds: dict[tuple[int, int], float]) -> None:
    """Make a project whose trials sleep."""
    for task in range(TASKS):
        mean = statistics.fmean(seconds[task, trial] for trial in range(1, TRIALS + 1))
        make_task(root / "tasks", f"task{task:02}", limits={"expected_seconds": mean})
    (root / "pytest.ini").write_text("[pytest]\n")
    (root / "conftest.py").write_text(CONFTEST)
    (root / "test_sleep.py").write_text(TESTS)
    named = {f"task{task:02} {trial}": length for (task, trial), length in seconds.items()}
    (root / "seconds.json").write_text(json.dumps(named))


def measure_makespan(root: Path, workers: int, arguments: Sequence[str], **env: str) -> float:
    """Run all trials and give the seconds from the first one's start to the last one's end."""
    log = root / "log"
    log.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"-n{workers}"]
    command += ["test_sleep.py", "--mlab-agent=baseline", f"--mlab-trials={TRIALS}", *arguments]
    run = subprocess.run(
        command,
        cwd=root,
        env=os.environ | {"LOG": str(log), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    spans = [tuple(map(float, line.split())) for line in log.read_text().splitlines()]
    if len(spans) != TASKS * TRIALS:
        sys.exit(run.stdout + run.stderr)
    return max(end for _, end in spans) - min(begun for begun, _ in spans)


def main() -> None:
    """Print a table of makespans over the lower bound."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    ways: dict[str, tuple[list[str], dict[str, str]]] = {
        "ours": ([], {}),
        "load": ([], {"PLAIN_LOAD": "1"}),
        "loadgroup": (["--dist=loadgroup"], {}),
        "worksteal": (["--dist=worksteal"], {}),
    }
    print("workers    bound" + "".join(f"{way:>11}" for way in ways))
    worst = 0.0
    for workers in WORKERS:
        seconds = draw_seconds(seed, BOUND * workers)
        bound = max(*seconds.values(), BOUND)
        with tempfile.TemporaryDirectory() as name:
            make_project(Path(name), seconds)
            ratios = [
                measure_makespan(Path(name), workers, arguments, **env) / bound
                for arguments, env in ways.values()
            ]
        worst = max(worst, ratios[0])
        figures = "".join(f"{ratio:>11.3f}" for ratio in ratios)
        print(f"{workers:>7}  {bound:>5.2f} s{figures}", flush=True)
    report("our longest makespan over the lower bound", worst, "times", TARGET)


if __name__ == "__main__":
    main()
