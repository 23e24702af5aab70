"""The task that a test class is about, and its data."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mlab.data import PreparedData, prepare_data, raw_folder
from pytest_mlab.exceptions import Unavailable
from pytest_mlab.packages import require_packages
from pytest_mlab.task import Task
from pytest_mlab.taskfile import load_task
from tests.tasks.bundled import FOLDER


@pytest.fixture(scope="class")
def task(request: pytest.FixtureRequest) -> Task:
    """Load the task; the tests of one whose packages are not here are skipped."""
    task = load_task(FOLDER / request.cls.name)
    try:
        require_packages(task.resources.requires, f"task {task.name}", carriers=task.data.packages)
    except Unavailable as error:
        pytest.skip(str(error))
    return task


@pytest.fixture(scope="class")
def cache(
    task: Task, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Give a cache in which the download lies as if a user had put it there by hand."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("MLAB_CACHE", str(folder))
        raw_folder(task).mkdir(parents=True)
        request.cls().write_raw(raw_folder(task))
        yield folder


@pytest.fixture(scope="class")
def data(task: Task, cache: Path) -> PreparedData:
    """Prepare the data as a run does."""
    return prepare_data(task)
