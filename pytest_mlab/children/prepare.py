"""Prepare a task's data: ``python prepare.py ALIVE OUTCOME PREPARER RAW PUBLIC PRIVATE``.

Runs the author's ``download`` (until it has once come to its end) and ``build``, and writes to the
file OUTCOME what came of it: ``{"fault": ..., "message": ...}``, both empty where all went well.
ALIVE is the reading end of a pipe; when its other end is gone, so is who started this process, and
it ends itself, lest the next preparation finds it still at work.
"""

import hashlib
import importlib.util
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import ModuleType

from pytest_mlab.children import format_exception
from pytest_mlab.exceptions import InfraError, TaskError, Unavailable

COMPLETE = ".complete"

_MISTAKES = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)
"""Errors of the system that a wrong path brings about, not a network or a full disk."""


def load_module(path: Path) -> ModuleType:
    """Import a file of the task author's under its own name, its neighbours importable."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(preparer: Path, raw: Path, public: Path, private: Path) -> None:
    """Fetch what is not there yet, then build.

    A ``prepare.py`` that has changed may want more: its ``download`` is called again, on what is
    there.
    """
    module = load_module(preparer)
    complete, digest = raw / COMPLETE, hashlib.sha256(preparer.read_bytes()).hexdigest()
    if hasattr(module, "download") and not (complete.exists() and complete.read_text() == digest):
        module.download(raw)
        complete.write_text(digest)
    module.build(raw, public, private)


def end_with_parent(alive: int) -> None:
    """Kill this process and its group as soon as the other end of a pipe is closed."""

    def wait() -> None:
        os.read(alive, 1)
        os.killpg(0, signal.SIGKILL)

    os.set_inheritable(alive, False)
    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Run as a process."""
    end_with_parent(int(sys.argv[1]))
    outcome, preparer, raw, public, private = map(Path, sys.argv[2:])
    try:
        prepare(preparer, raw, public, private)
        report = {"fault": "", "message": ""}
    except Unavailable as error:
        report = {"fault": "unavailable", "message": str(error)}
    except InfraError as error:
        report = {"fault": "infra", "message": str(error)}
    except TaskError as error:
        report = {"fault": "task", "message": str(error)}
    except Exception as error:
        # Failures to connect are OSErrors, in urllib and in requests too.
        if isinstance(error, OSError) and not isinstance(error, _MISTAKES):
            report = {"fault": "infra", "message": f"{preparer}: {type(error).__name__}: {error}"}
        else:
            trace = format_exception(error, preparer)
            report = {"fault": "task", "message": f"{preparer}: raised\n{trace}"}
    outcome.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
