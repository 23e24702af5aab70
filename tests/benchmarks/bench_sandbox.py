"""What starting a command costs: ``python -m tests.benchmarks.bench_sandbox``."""

import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pytest_mlab.exceptions import InfraError
from pytest_mlab.process import Completed, run_command
from pytest_mlab.repl import Repl
from pytest_mlab.sandbox import View, find_sandbox
from tests.benchmarks.measure import report, time_calls

RUNS = 200
COMMAND = ["/bin/true"]
TARGETS = {"none": 3.0, "bwrap": 10.0, "landlock": 60.0}


def extra_milliseconds(function: Callable[[], object], bare: Callable[[], object]) -> float:
    """Give how much longer one call takes than another, run in turn: the fastest tenth of each.

    Whatever else the machine does only ever adds, and to a start of a process it adds much.
    """
    pairs = [(*time_calls(bare, 1), *time_calls(function, 1)) for _ in range(RUNS)]
    before, after = (
        float(statistics.quantiles(times, n=10)[0]) for times in zip(*pairs, strict=True)
    )
    return (after - before) * 1000


def main() -> None:
    """Measure each kind that works here."""
    with tempfile.TemporaryDirectory() as name:
        view = View(writable=Path(name).resolve())
        environment = find_sandbox("none").environment(view)

        def bare() -> None:
            subprocess.run(COMMAND, cwd=name, env=environment, capture_output=True, check=True)

        def start(argv: list[str]) -> Completed:
            return run_command(argv, cwd=view.writable, environment=environment, seconds=60)

        extra = extra_milliseconds(lambda: start(COMMAND), bare)
        report("run_command", extra, "ms over bare", 1.0)
        for kind, target in TARGETS.items():
            try:
                sandbox = find_sandbox(kind)
            except InfraError as error:
                print(error)
                continue
            command = sandbox.command(COMMAND, view)
            assert start(command).exit_code == 0
            extra = extra_milliseconds(partial(start, command), bare)
            report(f"a command in {kind}", extra, "ms over bare", target)
            with Repl(sandbox, view) as repl:
                repl.run("1", 60)
                seconds = time_calls(partial(repl.run, "1", 60), RUNS)
            report(f"a line to a REPL in {kind}", statistics.median(seconds) * 1000, "ms", 1.0)


if __name__ == "__main__":
    main()
