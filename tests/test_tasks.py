"""The bundled tasks: what their instructions promise, and that no answer is in what agents get."""

import csv
import itertools
import re
from pathlib import Path

import pytest

from pytest_mlab.data import PreparedData, prepare_apart
from pytest_mlab.exceptions import Unavailable
from pytest_mlab.packages import require_packages
from pytest_mlab.task import Task
from pytest_mlab.taskfile import load_task

FOLDER = Path(__file__).parents[1] / "tasks"
TARGETS = {"digits": "digit", "diabetes": "progression", "house-price": "price"}
NAMES = [*TARGETS, "vectorization"]


@pytest.fixture(scope="module", params=NAMES)
def task(request: pytest.FixtureRequest) -> Task:
    return load_task(FOLDER / request.param)


@pytest.fixture(scope="module", params=TARGETS)
def table_task(request: pytest.FixtureRequest) -> Task:
    return load_task(FOLDER / request.param)


@pytest.fixture(scope="module")
def data(table_task: Task, tmp_path_factory: pytest.TempPathFactory) -> PreparedData:
    try:
        require_packages(table_task.resources.requires, table_task.name)
    except Unavailable as error:
        pytest.skip(str(error))
    return prepare_apart(table_task, tmp_path_factory.mktemp("data") / "prepared")


def read(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def inputs(row: dict[str, str], target: str) -> tuple[str, ...]:
    return tuple(value for column, value in row.items() if column not in {"id", target})


def test_the_folder_holds_these_tasks() -> None:
    assert sorted(path.parent.name for path in FOLDER.glob("*/task.toml")) == sorted(NAMES)


def test_a_task_is_complete(task: Task) -> None:
    """Also what the loader leaves to the author: a solution, the data's origin, a kind of task."""
    assert task.solution is not None
    assert (task.folder / "README.md").read_text().startswith("# Where the data come from")
    assert {"classic", "code-speed"} & set(task.tags)
    assert "offline" in task.tags


def test_the_instruction_names_what_is_handed_in_and_every_file(task: Task) -> None:
    assert task.submission.file in task.instruction
    assert task.metric.name in task.instruction
    for file in task.workspace.iterdir():
        assert f"`{file.name}`" in task.instruction


def test_the_starter_prints_its_validation_figure(task: Task) -> None:
    source = (task.workspace / task.starter).read_text()
    assert re.search(rf'print\(f"validation {task.metric.name}: {{', source)


def test_the_answers_are_all_there_and_only_in_private(
    table_task: Task, data: PreparedData
) -> None:
    target = TARGETS[table_task.name]
    test, labels = read(data.public / "test.csv"), read(data.private / "labels.csv")
    assert [row["id"] for row in test] == [row["id"] for row in labels]
    assert all(row[target] for row in labels)
    assert target not in test[0]
    assert sorted(path.name for path in data.public.iterdir()) == ["test.csv", "train.csv"]


def test_no_training_row_gives_a_test_row_away(table_task: Task, data: PreparedData) -> None:
    target = TARGETS[table_task.name]
    train, test = read(data.public / "train.csv"), read(data.public / "test.csv")
    assert not {inputs(row, target) for row in train} & {inputs(row, target) for row in test}
    assert not {row["id"] for row in train} & {row["id"] for row in test}


def test_the_order_of_rows_says_nothing_about_the_answers(
    table_task: Task, data: PreparedData
) -> None:
    """Neighbours are as unlike as strangers: their mean difference is that of random pairs."""
    target = TARGETS[table_task.name]
    values = [float(row[target]) for row in read(data.private / "labels.csv")]
    step = len(values) // 2
    neighbours = sum(abs(a - b) for a, b in itertools.pairwise(values))
    strangers = sum(abs(a - b) for a, b in zip(values, values[step:] + values[:step], strict=True))
    assert neighbours / (len(values) - 1) == pytest.approx(strangers / len(values), rel=0.15)


def test_the_instruction_counts_the_rows(table_task: Task, data: PreparedData) -> None:
    for file in ("train.csv", "test.csv"):
        assert f"{len(read(data.public / file)):,} " in table_task.instruction


@pytest.mark.parametrize("table_task", ["house-price"], indirect=True)
def test_the_description_of_the_houses_describes_every_column(
    table_task: Task, data: PreparedData
) -> None:
    text = (table_task.workspace / "data_description.txt").read_text()
    described = set(re.findall(r"^    (\S+)", text, re.MULTILINE))
    assert set(read(data.public / "test.csv")[0]) - {"id"} <= described
