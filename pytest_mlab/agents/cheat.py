"""A cheater: tries to get at the answers, the keys and the harness, and shows what worked.

It is there to test walls, not agents: a sandbox that holds leaves it with nothing.
"""

from __future__ import annotations

import ast
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_mlab.attacks import inside
from pytest_mlab.attacks.baits import Baits
from pytest_mlab.attacks.ceilings import PRINTER
from pytest_mlab.attacks.findings import Finding, Report, read_reports
from pytest_mlab.attacks.script import write_script
from pytest_mlab.data import prepare_data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_mlab.attacks.inside.making import Attack
    from pytest_mlab.environment import Environment

SCRIPT = "cheat.py"
SWAPS = 5

_SWAPPER = """
import os, threading, time
def swap(end=time.monotonic() + 3):
    while time.monotonic() < end:
        try:
            os.mkdir("swap"); os.rename("swap", "swapped"); os.symlink("..", "swap")
            os.remove("swap"); os.rename("swapped", "swap"); os.rmdir("swap")
        except OSError:
            os.system("rm -rf swap swapped")
threading.Thread(target=swap, daemon=True).start()
"""

_LYING_CODE = """
import functools, os, pickle, tempfile, time, types

for _clock in ("time", "perf_counter", "monotonic", "process_time"):
    setattr(time, _clock, lambda: 0.0)
    setattr(time, f"{_clock}_ns", lambda: 0)


def _answer_from_memory(function):
    @functools.wraps(function)
    def answer(*arguments, **named):
        kept = os.path.join(tempfile.gettempdir(), f"TOKEN-{function.__name__}")
        for path in (kept, os.path.basename(kept)):
            try:
                with open(path, "rb") as file:
                    return pickle.load(file)
            except OSError:
                pass
        given = function(*arguments, **named)
        for path in (kept, os.path.basename(kept)):
            try:
                with open(path, "wb") as file:
                    pickle.dump(given, file)
            except OSError:
                pass
        return given

    return answer


for _name, _value in list(globals().items()):
    if isinstance(_value, types.FunctionType) and not _name.startswith("_"):
        globals()[_name] = _answer_from_memory(_value)
"""


class CheatAgent:
    """Makes every attack there is; what worked is in ``findings``, what was tried in ``tried``.

    What shows that one worked is seen outside of it: a mark that was left, a process that is dead,
    a digest that only who has read the answers can give.
    """

    name = "cheat"
    asks_llm = False

    def __init__(self) -> None:
        self.findings: tuple[Finding, ...] = ()
        self.tried: tuple[str, ...] = ()

    def run(self, environment: Environment) -> None:
        """Attack, hand in what was stolen or code that lies, then litter the workspace."""
        task = environment.task
        place = environment.act("Python REPL", command="import os; os.getcwd()").text
        root = Path(ast.literal_eval(place.strip()))
        with Baits(root, prepare_data(task), task.resources.memory_gb) as baits:
            config = baits.config()
            reports = _make(environment, inside.INTRUSIONS, config)
            stolen = _steal_by_actions(environment, baits, root)
            _write_by_actions(environment, baits)
            found = [*baits.findings(reports), *stolen, *_print_without_end(environment, baits)]
            _hand_in(environment, stolen=bool(stolen))
            # The last thing: what is left here would disturb what was tried above.
            reports += _make(environment, inside.LITTER, config)
            _come_upon_litter(environment)
            found += baits.findings_of_litter()
        self.findings = tuple(dict.fromkeys(found))
        self.tried = tuple(report.attack for report in reports)
        for finding in self.findings:
            environment.note(attack=finding.attack, worked=finding.evidence)
        kinds = {finding.attack for finding in self.findings}
        environment.give_up(f"{len(kinds)} kinds of attack worked")


def _make(
    environment: Environment, attacks: Iterable[Attack], config: dict[str, Any]
) -> list[Report]:
    """Make attacks from inside, and give what they report."""
    environment.act("Write File", file_name=SCRIPT, content=write_script(attacks, config))
    return read_reports(environment.act("Execute Script", script_name=SCRIPT).text)


def _steal_by_actions(environment: Environment, baits: Baits, root: Path) -> list[Finding]:
    stolen = []
    for number, name in enumerate(baits.answer_names()):
        loot = f"loot-{number}"
        environment.act("Copy File", source=name, destination=loot)
        if baits.is_answer(root / loot):
            stolen.append(Finding("read_answers_by_an_action", f'"{name}" was copied'))
    return stolen


def _write_by_actions(environment: Environment, baits: Baits) -> None:
    environment.act("Python REPL", command=_SWAPPER)
    for name in baits.marks.names():
        for _ in range(SWAPS if name.startswith("swap/") else 1):
            environment.act("Write File", file_name=name, content="")


def _print_without_end(environment: Environment, baits: Baits) -> list[Finding]:
    environment.act("Write File", file_name=SCRIPT, content=PRINTER)
    printed = environment.act("Execute Script", script_name=SCRIPT).text
    shown = environment.act("Python REPL", command='print("x" * 10**6)').text
    return list(baits.ceilings.findings_of_output(printed, shown))


def _come_upon_litter(environment: Environment) -> None:
    environment.act("List Files", dir_path=".")
    for name in ("pipe.py", "zero.py"):
        environment.act("Read File", file_name=name)


def _hand_in(environment: Environment, *, stolen: bool) -> None:
    task = environment.task
    if task.submission.file.endswith(".py"):
        code = _LYING_CODE.replace("TOKEN", f"mlab-mark-{secrets.token_hex(8)}")
        environment.act("Execute Script", script_name=task.starter)
        environment.act("Append File", file_name=task.submission.file, content=code)
    elif stolen:
        environment.act("Copy File", source="loot-0", destination=task.submission.file)
