"""Prepare a task's data: ``python prepare.py OUTCOME PREPARER RAW PUBLIC PRIVATE``.

Runs the author's ``download`` (only while RAW is not yet complete) and ``build``, and writes to the
file OUTCOME what came of it: ``{"ok": true}`` or ``{"fault": ..., "message": ...}``.
"""

import importlib.util
import json
import sys
import traceback
from pathlib import Path
from types import ModuleType

from pytest_mlab.exceptions import InfraError, TaskError, Unavailable

COMPLETE = ".complete"


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
    """Fetch what is not there yet, then build."""
    module = load_module(preparer)
    if hasattr(module, "download") and not (raw / COMPLETE).exists():
        module.download(raw)
        (raw / COMPLETE).touch()
    module.build(raw, public, private)


def main() -> None:
    """Run as a process; the arguments are paths."""
    outcome, preparer, raw, public, private = map(Path, sys.argv[1:])
    try:
        prepare(preparer, raw, public, private)
        report = {"fault": "", "message": ""}
    except Unavailable as error:
        report = {"fault": "unavailable", "message": str(error)}
    except InfraError as error:
        report = {"fault": "infra", "message": str(error)}
    except TaskError as error:
        report = {"fault": "task", "message": str(error)}
    except (ConnectionError, TimeoutError) as error:
        report = {"fault": "infra", "message": f"{preparer}: {type(error).__name__}: {error}"}
    except Exception:
        report = {
            "fault": "task",
            "message": f"{preparer}: raised\n{traceback.format_exc(limit=-3)}",
        }
    outcome.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
