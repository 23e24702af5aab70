"""Agents for the tasks of `tests.folders`, each of which ends its trial in a way of its own.

Tests copy this file into their project as ``agents.py`` and name them ``agents:solve`` and so on.
"""

import os
import signal
import sys
import time

from pytest_mlab.environment import Environment


def solve(environment: Environment) -> None:
    """Do what succeeds."""
    source = environment.act("Read File", file_name="train.py").text
    solution = source.replace("CUT = 1", "CUT = 4")
    environment.act("Write File", file_name="train.py", content=solution)
    environment.act("Execute Script", script_name="train.py")
    environment.act("Final Answer", final_answer="cut at 4")


def do_nothing(environment: Environment) -> None:
    """Give up at once, without a submission."""


def overfill(environment: Environment) -> None:
    """Write more than there is room for, delete it, and do what succeeds."""
    lines = (
        "import time",
        "for number in range(400):",
        "    open(f'{number}.bin', 'wb').write(bytes(1_000_000)) and time.sleep(0.01)",
    )
    environment.act("Write File", file_name="fill.py", content="\n".join(lines))
    environment.act("Execute Script", script_name="fill.py")
    delete = "import glob, os; print([os.remove(name) for name in glob.glob('*.bin')])"
    environment.act("Python REPL", command=delete)
    solve(environment)


def scribble(environment: Environment) -> None:
    """Hand in what cannot be scored."""
    environment.act("Write File", file_name="submission.csv", content="no table")
    environment.act("Final Answer", final_answer="done")


def crash(environment: Environment) -> None:
    """Raise an exception."""
    raise ValueError("lost the thread")


def loop(environment: Environment) -> None:
    """Act for as long as there are steps."""
    while True:
        environment.act("List Files", dir_path=".")


def sleep(environment: Environment) -> None:
    """Do nothing, for long."""
    time.sleep(600)


def interrupt(environment: Environment) -> None:
    """Press Ctrl-C, as far as pytest can tell."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)


def kill(environment: Environment) -> None:
    """Take the whole process down, as the system does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def ignore_signals(environment: Environment) -> None:
    """Block the signal that our own deadline is enforced by, and never come back."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    time.sleep(600)


def misuse(environment: Environment) -> None:
    """Call what is not there, wrongly, and hand in the starter's submission all the same."""
    unknown = environment.act("Take Over", world="now")
    wrong = environment.act("Read File", path="train.py")
    assert not unknown.ok
    assert not wrong.ok
    environment.act("Execute Script", script_name="train.py")
    print("what the agent prints", file=sys.stderr)


class Tuner:
    """Cuts where it is told to; as a class, made anew for each trial."""

    asks_llm = False

    def __init__(self, cut: int = 2) -> None:
        self.cut = cut

    def run(self, environment: Environment) -> None:
        """Write the cut into the starter, run it and submit."""
        source = environment.act("Read File", file_name="train.py").text
        changed = source.replace("CUT = 1", f"CUT = {self.cut}")
        environment.act("Write File", file_name="train.py", content=changed)
        environment.act("Execute Script", script_name="train.py")
        environment.act("Final Answer", final_answer=f"cut at {self.cut}")


NOT_AN_AGENT = 7
