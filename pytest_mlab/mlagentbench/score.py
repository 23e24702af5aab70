"""The scorer of a folder in the original's format: asks its ``eval.py``.

``eval.py`` does not tell a wrong submission from a fault of its own: both are some exception, or
NaN. What tells them apart here is the starter's submission, which it scored while preparing. If it
still scores that one, it is the agent's submission that is wrong.
"""

import importlib.util
import math
import os
import shutil
import statistics
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import InvalidSubmission, TaskError
from pytest_mlab.mlagentbench.record import REFERENCE, Record

Evaluate = Callable[[str], Any]


def score(submission: Path, private: Path) -> float | tuple[float, float]:
    """Give what ``eval.py`` says, and with it the baseline where that was measured."""
    record = Record.read(private)
    folder = submission.parent / "folder"
    copy = folder / record.submission
    copy.parent.mkdir(parents=True)
    shutil.copyfile(submission, copy)
    # Data that eval.py opens relative to the current folder lie where its prepare.py put them.
    os.chdir(private / "env")
    evaluate = load_evaluation(private / "scripts" / "eval.py")
    try:
        value = _score_folder(evaluate, folder)
    except _Failed as failure:
        raise _judge(failure, evaluate, private / REFERENCE) from None
    return (value, statistics.fmean(record.scores)) if record.scores else value


def load_evaluation(file: Path) -> Evaluate:
    """Import ``eval.py`` as if it had been started; give its ``get_score``."""
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location("eval", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["eval"] = module
    spec.loader.exec_module(module)
    evaluate: Evaluate = module.get_score
    return evaluate


class _Failed(Exception):
    """``eval.py`` gave no score; the message says what it did instead, ``trace`` where."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


def _score_folder(evaluate: Evaluate, folder: Path) -> float:
    try:
        value = evaluate(str(folder))
    except (Exception, SystemExit) as error:
        raise _Failed(f"{type(error).__name__}: {error}", traceback.format_exc(limit=-3)) from None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise _Failed(f"get_score() gave {value!r:.200}")
    return number


def _judge(failure: _Failed, evaluate: Evaluate, reference: Path) -> Exception:
    """Tell whether it is the submission that is wrong, or ``eval.py``."""
    if not reference.exists():
        return TaskError(
            f"scripts/eval.py gave no score: {failure}\nWhether it or the submission is wrong "
            f"cannot be told, for the starter hands in nothing to try it on\n{failure.trace}"
        )
    try:
        _score_folder(evaluate, reference)
    except _Failed as again:
        return TaskError(
            f"scripts/eval.py gave no score, not even for the starter's submission ({again}): "
            f"{failure}\n{failure.trace}"
        )
    return InvalidSubmission(f"scripts/eval.py cannot score it, as it can the starter's: {failure}")
