"""Reading a task from its folder: one with a ``task.toml`` that says ``format = "mlab/1"``."""

from pathlib import Path

from pytest_mlab.conventions import FILE, FORMAT
from pytest_mlab.exceptions import TaskError
from pytest_mlab.soundness import check_task
from pytest_mlab.tables import Table, read_table
from pytest_mlab.task import Baseline, Data, Limits, Metric, Resources, Submission, Task


def load_task(folder: Path) -> Task:
    """Read and check a task folder; raises `TaskError` naming file, key and remedy."""
    folder = folder.absolute()
    top = read_table(folder / FILE)
    if (found := top.take("format", str)) != FORMAT:
        raise top.error("format", f'is "{found}"; this version of pytest-mlab reads "{FORMAT}"')
    return _build_task(folder, top)


def _build_task(folder: Path, top: Table) -> Task:
    task = Task(
        name=folder.name,
        folder=folder,
        title=top.take("title", str),
        tags=top.take("tags", tuple, default=()),
        starter=top.take("starter", str, default="train.py"),
        read_only=top.take("read_only", tuple, default=()),
        instruction=_read_instruction(folder),
        workspace=folder / "workspace",
        scorer=folder / "score.py",
        preparer=_existing(folder / "prepare.py"),
        solution=_existing(folder / "solution"),
        submission=top.table("submission").read(Submission),
        metric=top.table("metric").read(Metric),
        baseline=_read_baseline(top.table("baseline")),
        limits=top.table("limits").read(Limits),
        resources=top.table("resources").read(Resources),
        data=top.table("data").read(Data),
    )
    top.finish()
    check_task(task, top)
    return task


def _read_baseline(table: Table) -> Baseline:
    baseline = table.read(Baseline)
    if not baseline.stated and (baseline.measured or baseline.runs < 2 or baseline.std):
        raise table.error(
            "score",
            "is missing; give a number, the unmodified starter's score, or else runs = 5 alone: it "
            "is then measured by as many runs on every machine that prepares the data",
        )
    return baseline


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def _read_instruction(folder: Path) -> str:
    file = folder / "instruction.md"
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(
            f"{file}: cannot be read ({error}); write the research problem there, in UTF-8, "
            "as the agent shall get it"
        ) from error
