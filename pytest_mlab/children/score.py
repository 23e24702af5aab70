"""Score a submission: ``python score.py FD SCORER SUBMISSION PRIVATE``, a token on standard input.

Writes one JSON object to the file descriptor FD: the token, and either ``score`` (a number, or a
pair of score and baseline), ``invalid``, ``fault`` or ``error``. The token is what only this
process was told: code of the submission that a scorer runs cannot forge the outcome.
"""

import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import InvalidSubmission, TaskError

LONGEST = 8_000


def score(scorer: Path, submission: Path, private: Path) -> dict[str, Any]:
    """Call the author's ``score`` and say what came of it."""
    try:
        spec = importlib.util.spec_from_file_location("score", scorer)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return {"score": _plain(module.score(submission, private))}
    except InvalidSubmission as error:
        return {"invalid": str(error)[:LONGEST]}
    except TaskError as error:
        return {"fault": str(error)[:LONGEST]}
    except Exception:
        return {"error": traceback.format_exc(limit=-4)[-LONGEST:]}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return repr(value)[:LONGEST]
    return float(value)


def main() -> None:
    """Run as a process."""
    token = sys.stdin.readline().strip()
    channel = int(sys.argv[1])
    os.set_inheritable(channel, False)
    outcome = score(*map(Path, sys.argv[2:]))
    os.write(channel, json.dumps({"token": token, **outcome}).encode())


if __name__ == "__main__":
    main()
