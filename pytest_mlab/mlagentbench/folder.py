"""Reading a folder of the original's format as a `Task`."""

import dataclasses
import math
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from pytest_mlab.exceptions import TaskError
from pytest_mlab.mlagentbench import PROBLEM
from pytest_mlab.mlagentbench.paper import PAPER, PaperTask
from pytest_mlab.mlagentbench.submission import find_submission
from pytest_mlab.resources import measure_machine
from pytest_mlab.soundness import check_task
from pytest_mlab.tables import Table, read_table
from pytest_mlab.task import Baseline, Data, Limits, Metric, Resources, Submission, Task

SETTINGS = "mlab.toml"
TAG = "mlagentbench"

RUNS = 3
"""How often the starter is run for a baseline, where the folder does not say."""
LIMITS = {"preparing_seconds": 5 * 3600.0, "scoring_seconds": 600.0}
MEMORY_GB = 16.0
"""The original limits neither memory nor the time of preparing and scoring: these are generous."""

_ADAPTERS = Path(__file__).parent


def load_mlagentbench(folder: Path) -> Task:
    """Read and check a folder of the original's format; raises `TaskError` with the remedy.

    What the format leaves open is read from ``scripts/mlab.toml``, whose tables are those of a
    ``task.toml``; for the paper's own tasks it can be missing. A baseline that is stated nowhere
    is measured while preparing: its ``score`` is NaN here.
    """
    folder = folder.absolute()
    scripts = folder / "scripts"
    file = scripts / SETTINGS
    top = read_table(file) if file.exists() else Table({}, file)
    paper = PAPER.get(folder.name)
    timed = paper is not None and paper.timed
    starter = top.take("starter", str, default="train.py")
    task = Task(
        name=folder.name,
        folder=folder,
        title=top.take("title", str, default=folder.name),
        tags=(TAG, *top.take("tags", tuple, default=())),
        instruction=_read_problem(folder / PROBLEM),
        workspace=folder / "env",
        data_at=".",
        starter=starter,
        scorer=_ADAPTERS / ("speed.py" if timed else "score.py"),
        preparer=_ADAPTERS / "prepare.py",
        submission=_read_submission(top, starter if timed else None, scripts / "eval.py"),
        metric=_read_metric(top, paper),
        baseline=_read_baseline(top, timed=timed),
        limits=top.table("limits", **LIMITS).read(Limits),
        resources=_read_resources(top, paper, scripts / "requirements.txt"),
        data=top.table("data").read(Data),
    )
    labels_accepted = top.take("accept_visible_labels", bool, default=False)
    top.finish()
    check_task(task, top)
    if paper is not None and paper.labels_at and not labels_accepted:
        raise TaskError(
            f"{folder}: this task shows its test labels to the agent ({paper.labels_at}), so its "
            "scores prove nothing; to run it all the same, write in its scripts/mlab.toml: "
            "accept_visible_labels = true"
        )
    return task


def read_data_patterns(folder: Path) -> list[str]:
    """Give the names and patterns, relative to ``env/``, of files that the agent may not change."""
    lines = _read_lines(folder / "scripts" / "read_only_files.txt")
    return [line.removeprefix("./") for line in lines]


def _read_problem(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(
            f"{file}: cannot be read ({error}); write the research problem there, in UTF-8"
        ) from error


def _read_lines(file: Path) -> list[str]:
    """Give a list's lines without comments and blanks; a file that is not there has none."""
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{file}: cannot be read ({error}); make it UTF-8 text") from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def _read_submission(top: Table, known: str | None, evaluation: Path) -> Submission:
    stated = top.table("submission").take("file", str, default=known)
    file = find_submission(evaluation, stated)
    # A task that times its starter has that edited.
    return top.table("submission", file=file, in_place=file == known).read(Submission)


def _read_metric(top: Table, paper: PaperTask | None) -> Metric:
    if paper is not None:
        known = {
            key: value
            for key, value in dataclasses.asdict(paper.metric).items()
            if value is not None
        }
        return top.table("metric", **known).read(Metric)
    table = top.table("metric")
    if table.take("name", str, default=None) is None:
        raise table.error(
            "name",
            "is missing: the original's format does not say what eval.py measures; write "
            '[metric] name = "accuracy" and goal = "maximize" there, or what it is, and create '
            "the file if need be",
        )
    return top.table("metric").read(Metric)


def _read_baseline(top: Table, *, timed: bool) -> Baseline:
    table = top.table("baseline")
    if table.take("score", float, default=None) is None:
        runs = table.take("runs", int, default=RUNS)
        table.finish()
        if runs < 2:
            raise table.error("runs", f"is {runs}; run the starter twice at least: noise matters")
        return Baseline(math.nan, runs=runs, measured=True)
    stated = top.table("baseline").read(Baseline)
    if stated.measured and not timed:
        raise table.error(
            "measured",
            "is true, but eval.py gives the submission's score alone; leave the score out, and "
            "the starter is measured while preparing",
        )
    return dataclasses.replace(stated, measured=timed)


def _read_resources(top: Table, paper: PaperTask | None, requirements: Path) -> Resources:
    memory = min(MEMORY_GB, measure_machine(0).memory_gb)  # the original says nothing of it
    stated = top.table("resources", memory_gb=memory).read(Resources)
    known = paper.requires if paper is not None else ()
    requires = (*known, *_read_requirements(requirements), *stated.requires)
    return dataclasses.replace(stated, requires=tuple(dict.fromkeys(requires)))


def _read_requirements(file: Path) -> list[str]:
    """Give the names alone: the original's versions are of 2023, and exclude each other today."""
    names = []
    for line in _read_lines(file):
        text = line.partition(" #")[0].strip()
        if text.startswith(("#", "-")):
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise TaskError(f'{file}: "{text}" names no package: {error}') from error
        if requirement.marker is None or requirement.marker.evaluate():
            names.append(requirement.name)
    return names
