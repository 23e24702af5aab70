"""The scores along a trial, as ``--mlab-eval-steps`` records them beside its other records."""

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_mlab.files import write_atomically

FILE = "scores.jsonl"
"""In a trial's folder: one line for each submission that differs from the one before."""


@dataclass(frozen=True, kw_only=True)
class StepScore:
    """What the submission scored that a step left; ``best`` is the best so far.

    ``score`` is None where it could not be scored, and ``detail`` says why. ``step`` counts from
    1, as in the trace; ``commit`` is in the trial's history.
    """

    step: int
    commit: str
    score: float | None
    baseline: float | None
    improvement: float | None
    best: float | None
    detail: str = ""


def write_curve(folder: Path, scores: Iterable[StepScore]) -> None:
    """Write a trial's scores into its folder of records."""
    lines = (json.dumps(dataclasses.asdict(score), allow_nan=False) + "\n" for score in scores)
    write_atomically(folder / FILE, "".join(lines))


def read_curve(folder: Path) -> tuple[StepScore, ...]:
    """Give the scores along the trial recorded in a folder (`Result.folder`), in order.

    There are none where the trial ran without ``--mlab-eval-steps`` or its folder is gone.
    """
    file = folder / FILE
    if not file.is_file():
        return ()
    known = {field.name for field in dataclasses.fields(StepScore)}
    records = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return tuple(
        StepScore(**{name: value for name, value in record.items() if name in known})
        for record in records
    )
