"""What the plugin costs a project without tasks: ``python -m tests.benchmarks.bench_inert``."""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import compare, report

PYTEST = [sys.executable, "-m", "pytest", "--collect-only", "-q"]


def main() -> None:
    """Collect an empty project with the plugin and without it."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        without = [*PYTEST, "-p", "no:pytest_mlab.plugin"]
        ours, theirs = compare(PYTEST, without, project, project, runs=25)
    print(f"with {ours.seconds:.3f} s, without {theirs.seconds:.3f} s")
    report("an empty project", ours.seconds / theirs.seconds, "times", 1.03)


if __name__ == "__main__":
    main()
