"""A cheater: tries to get at the answers, the keys and the harness, and shows what worked.

It is there to test walls, not agents: a sandbox that holds leaves it with nothing.
"""

from __future__ import annotations

import ast
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_mlab.attacks import inside
from pytest_mlab.attacks.baits import Baits, Finding, read_reports
from pytest_mlab.data import prepare_data

if TYPE_CHECKING:
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
        """Attack, then hand in what was stolen or, where code is handed in, code that lies."""
        place = environment.act("Python REPL", command="import os; os.getcwd()").text
        root = Path(ast.literal_eval(place.strip()))
        with Baits(root, prepare_data(environment.task)) as baits:
            config = f"CONFIG = {baits.config()!r}\n"
            source = Path(inside.__file__).read_text(encoding="utf-8")
            environment.act("Write File", file_name=SCRIPT, content=config + source)
            reports = read_reports(environment.act("Execute Script", script_name=SCRIPT).text)
            stolen = self._steal_by_actions(environment, baits, root)
            self._write_by_actions(environment, baits)
            found = list(dict.fromkeys([*baits.findings(reports), *stolen]))
        self.findings = tuple(found)
        self.tried = tuple(report["attack"] for report in reports)
        for finding in found:
            environment.note(attack=finding.attack, worked=finding.evidence)
        self._hand_in(environment, stolen=bool(stolen))
        environment.give_up(f"{len({finding.attack for finding in found})} kinds of attack worked")

    def _steal_by_actions(
        self, environment: Environment, baits: Baits, root: Path
    ) -> list[Finding]:
        stolen = []
        for number, name in enumerate(baits.answer_names()):
            loot = f"loot-{number}"
            environment.act("Copy File", source=name, destination=loot)
            if baits.is_answer(root / loot):
                stolen.append(Finding("read_answers_by_an_action", f'"{name}" was copied'))
        return stolen

    def _write_by_actions(self, environment: Environment, baits: Baits) -> None:
        environment.act("Python REPL", command=_SWAPPER)
        for name in baits.file_names():
            for _ in range(SWAPS if name.startswith("swap/") else 1):
                environment.act("Write File", file_name=name, content="")

    def _hand_in(self, environment: Environment, *, stolen: bool) -> None:
        task = environment.task
        if task.submission.file.endswith(".py"):
            code = _LYING_CODE.replace("TOKEN", f"mlab-mark-{secrets.token_hex(8)}")
            environment.act("Execute Script", script_name=task.starter)
            environment.act("Append File", file_name=task.submission.file, content=code)
        elif stolen:
            environment.act("Copy File", source="loot-0", destination=task.submission.file)
