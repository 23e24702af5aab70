"""What recording a step costs: ``python -m tests.benchmarks.bench_history``.

A workspace of 1,000 files, one of which changes at each step, and 20 MB of others that do not; held
against ``git add -A && git commit`` in the same workspace, step by step, and so is disk growth.
"""

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from pytest_mlab.history import History
from tests.benchmarks.measure import report

STEPS = 200
FILES = 1000
CONTENT = 2000
"""Bytes of the file that changes, and of each of the others."""


def fill(root: Path, per_folder: int) -> None:
    """Make the workspace: text files, so many a folder, and 20 MB that are no text."""
    for number in range(FILES):
        folder = root / f"part{number // per_folder}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.txt").write_text(os.urandom(CONTENT // 2).hex())
    for number in range(5):
        (root / f"model{number}.bin").write_bytes(os.urandom(4_000_000))


def used(folder: Path) -> int:
    """Give the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(per_folder: int) -> None:
    """Record many steps, ours and git's by turns."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "workspace")
        fill(root, per_folder)
        ours, theirs = Path(name, "history.git"), Path(name, "theirs.git")
        git = ["git", f"--git-dir={theirs}", f"--work-tree={root}"]
        settings = ["-c", "user.name=bench", "-c", "user.email=bench", "-c", "gc.auto=0"]
        subprocess.run(["git", "init", "--quiet", "--bare", str(theirs)], check=True)

        def commit() -> None:
            subprocess.run([*git, "add", "-A"], cwd=root, check=True)
            subprocess.run([*git, *settings, "commit", "-qm", "step"], cwd=root, check=True)

        history = History(ours, root)
        start = time.perf_counter()
        history.record("start")
        first = time.perf_counter() - start
        commit()
        history.record("files that are not new any more are not read again")
        before = used(ours), used(theirs)
        times: list[float] = []
        theirs_times: list[float] = []
        changed = root / "part0" / "0.txt"
        for number in range(STEPS):
            changed.write_text(os.urandom(CONTENT // 2).hex())
            start = time.perf_counter()
            history.record(f"step {number}")
            times.append(time.perf_counter() - start)
            start = time.perf_counter()
            commit()
            theirs_times.append(time.perf_counter() - start)
        growth, theirs_growth = used(ours) - before[0], used(theirs) - before[1]
        start = time.perf_counter()
        history.close()
        closing = time.perf_counter() - start
        print(f"{FILES} files, {per_folder} a folder; {STEPS} steps")
        median = statistics.median(times)
        report("recording a step", median * 1000, "ms", 15)
        print(f"beside git: {median / statistics.median(theirs_times):.2f} times its time")
        early, late = statistics.median(times[:20]), statistics.median(times[-20:])
        report("the last 20 steps beside the first 20", late / early, "times", 1.2)
        print(
            f"a step's growth: {growth / STEPS:,.0f} bytes (git's {theirs_growth / STEPS:,.0f}),"
            f" packed {(used(ours) - before[0]) / STEPS:,.0f}, of a change of {CONTENT:,}"
        )
        print(f"the first record: {first * 1000:.0f} ms; packing {closing * 1000:.0f} ms")


def main() -> None:
    """Measure a workspace of folders, and one whose files all lie in one folder."""
    for per_folder in (100, FILES):
        measure(per_folder)


if __name__ == "__main__":
    main()
