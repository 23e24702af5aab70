"""Running a Python script of the folder, and saying whose fault it is when it fails."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_mlab.exceptions import InfraError, TaskError, Unavailable

_SHOWN = 2_000

_LAST_LINE = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: (?P<text>.*))?$")
_MODULE = re.compile(r"No module named '([\w.]+)'")
_PROGRAM = re.compile(r"No such file or directory: '([^'/]+)'")
_NETWORK = re.compile(
    r"(URLError|HTTPError|ConnectionError|ConnectTimeout|ReadTimeout|MaxRetryError|ProxyError"
    r"|SSLError|gaierror|ConnectionRefusedError|ConnectionResetError)$"
)


@dataclass(frozen=True)
class Script:
    """A script and how it is run: ``name`` is what messages call it."""

    name: Path
    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]

    def run(self, seconds: float) -> str:
        """Run it to its end, with nobody to answer its questions; give the end of its output.

        It stays in this process's group, so that it ends with it. Raises `Unavailable` where it
        needs a package, a program or an answer, `InfraError` where the network failed it, and
        `TaskError` where it failed otherwise.
        """
        try:
            run = subprocess.run(
                self.argv,
                cwd=self.cwd,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TaskError(f"{self.name}: did not end within {seconds:g} seconds") from None
        if run.returncode != 0:
            raise self._explain(run)
        return _tail(run.stdout, run.stderr)

    def _explain(self, run: subprocess.CompletedProcess[str]) -> Exception:
        trace = run.stderr.strip()
        last = _LAST_LINE.match(trace.rpartition("\n")[2])
        error, text = (last["name"], last["text"] or "") if last else ("", "")
        if error == "EOFError" and "input(" in trace:
            return Unavailable(
                f"{self.name}: asks a question that nobody answers here:\n"
                f"{_tail(run.stdout)}\n"
                "Answer it yourself, once, and the task is taken as prepared: "
                f"cd {self.name.parent} && python prepare.py && touch prepared"
            )
        if error == "ModuleNotFoundError" and (module := _MODULE.search(text)):
            return Unavailable(
                f'{self.name}: needs the Python module "{module[1]}"; install the package that '
                "provides it"
            )
        if error == "FileNotFoundError" and "_execute_child" in trace:
            program = _PROGRAM.search(text)
            if program:
                return Unavailable(f'{self.name}: needs the program "{program[1]}"; install it')
        kind = InfraError if _NETWORK.search(error) else TaskError
        return kind(
            f"{self.name}: failed with exit code {run.returncode}; it printed last\n"
            f"{_tail(run.stdout, trace)}"
        )


def _tail(*outputs: str) -> str:
    return "\n".join(output.strip()[-_SHOWN:] for output in outputs if output.strip())
