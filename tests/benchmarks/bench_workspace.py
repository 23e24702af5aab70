"""What a fresh workspace over 1 GB of data costs: ``python -m tests.benchmarks.bench_workspace``.

It is held against copying those data, as MLAgentBench does for every trial; in turn, on the same
file system. Then a script in it reads the data, within the strongest sandbox that works here: what
is not copied is there all the same.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from pytest_mlab.process import run_command
from pytest_mlab.sandbox import View, find_sandbox
from pytest_mlab.task import Baseline, Metric, Task
from pytest_mlab.workspace import Workspace
from tests.benchmarks.measure import report

LARGE, LARGE_BYTES = 4, 240_000_000
SMALL, SMALL_BYTES = 5_000, 8_000
COPIES = 3
READ = "import os; print(sum(len(files) for _, _, files in os.walk('data/')))"


def make_data(public: Path) -> int:
    """Write a few large files and many small ones; give the bytes of all of them."""
    (public / "images").mkdir(parents=True)
    block = os.urandom(8_000_000)
    for number in range(LARGE):
        with (public / f"part-{number}.bin").open("wb") as file:
            for _ in range(LARGE_BYTES // len(block)):
                file.write(block)
    for number in range(SMALL):
        (public / "images" / f"{number}.bin").write_bytes(block[number : number + SMALL_BYTES])
    return LARGE * LARGE_BYTES + SMALL * SMALL_BYTES


def make_task(folder: Path) -> Task:
    """Make a task whose starter is one file."""
    starter = folder / "task" / "workspace"
    starter.mkdir(parents=True)
    (starter / "train.py").write_text(READ)
    (folder / "task" / "score.py").write_text("def score(submission, private):\n    return 1.0\n")
    return Task(
        name="bench",
        folder=folder / "task",
        title="Bench",
        instruction="",
        workspace=starter,
        scorer=folder / "task" / "score.py",
        metric=Metric("accuracy", "maximize"),
        baseline=Baseline(0.5),
    )


def disk_usage(folder: Path) -> int:
    """Give the bytes on disk of what lies in a folder, links not followed."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def main() -> None:
    """Make a workspace and copy the data, in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        public, root = folder / "public", folder / "workspace"
        size = make_data(public)
        task = make_task(folder)
        fresh, copied = [], []
        for _ in range(COPIES):
            for _ in range(5):
                shutil.rmtree(root, ignore_errors=True)
                start = time.perf_counter()
                Workspace.create(task, public, root)
                fresh.append(time.perf_counter() - start)
            start = time.perf_counter()
            shutil.copytree(public, folder / "copy")
            copied.append(time.perf_counter() - start)
            shutil.rmtree(folder / "copy")
        sandbox = find_sandbox("auto")
        view = View(writable=root, readable=(public,))
        run = run_command(
            sandbox.command([sys.executable, str(root / "train.py")], view),
            cwd=root,
            environment=sandbox.environment(view),
            seconds=60,
        )
        assert run.stdout.strip() == str(LARGE + SMALL), run
        taken = disk_usage(root)
    print(f"{size / 1e9:.2f} GB of public data in {LARGE + SMALL:,} files, sandbox {sandbox.name}")
    report("a fresh workspace", statistics.median(fresh) * 1000, "ms", 50.0)
    report("what it takes of the disk", taken / 1000, "kB", 100.0)
    print(f"copying the data instead: {statistics.median(copied) * 1000:,.0f} ms")


if __name__ == "__main__":
    main()
