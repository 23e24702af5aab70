"""Score a submission: ``python score.py CHANNEL SCORER SUBMISSION PRIVATE``.

A token comes on standard input. Writes one line, a JSON object, to CHANNEL, a file descriptor or
the path of a pipe: the token, and either ``score`` (a number, or a pair of score and baseline),
``invalid``, ``fault`` or ``error``. The token is what only this process was told: code of the
submission that a scorer runs cannot forge the outcome.
"""

import importlib.util
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_mlab.children import format_exception
from pytest_mlab.exceptions import InvalidSubmission, TaskError

LONGEST = 4_000
"""Characters of a message; JSON takes up to twelve bytes for one, and a pipe holds 64 KiB."""


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
    except Exception as error:
        return {"error": format_exception(error, scorer)[-LONGEST:]}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == 2:
        return [_number(part) for part in value]
    return _number(value)


def _number(value: Any) -> float | str:
    """Give a number as a float, NumPy's too, and anything else as its repr."""
    with suppress(TypeError, ValueError, OverflowError):
        if hasattr(value, "__float__") and not isinstance(value, bool):
            return float(value)
    return repr(value)[: LONGEST // 2]


def main() -> None:
    """Run as a process."""
    token = sys.stdin.readline().strip()
    name = sys.argv[1]
    channel = int(name) if name.isdigit() else os.open(name, os.O_WRONLY)
    os.set_inheritable(channel, False)
    outcome = score(*map(Path, sys.argv[2:]))
    # What the submission may have filled the pipe with must not keep us waiting.
    os.set_blocking(channel, False)
    with suppress(BlockingIOError):
        os.write(channel, b"\n%s\n" % json.dumps({"token": token, **outcome}).encode())


if __name__ == "__main__":
    main()
