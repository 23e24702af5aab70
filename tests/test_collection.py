"""Task folders become test items, by every way of naming them that pytest has."""

import shutil
from pathlib import Path

import pytest

from tests.projects import Project, nodeid

BOTH = [nodeid("cut", "hillclimb"), nodeid("slice", "hillclimb")]


@pytest.fixture
def two_tasks(project: Project) -> Project:
    """A project with two tasks, one of them tagged."""
    project.task("cut", tags=["tabular", "tiny"])
    project.task("slice")
    return project


def test_path_arguments_choose_tasks(two_tasks: Project) -> None:
    cut = BOTH[:1]
    assert two_tasks.collect("tasks") == BOTH
    for argument in ("tasks/cut", "tasks/cut/", "./tasks/cut", "tasks/slice/../cut"):
        assert two_tasks.collect(argument) == cut
    assert two_tasks.collect("tasks/cut/task.toml") == cut
    assert two_tasks.collect(cut[0]) == cut
    assert two_tasks.collect("tasks/cut/task.toml::test_beats_baseline") == cut
    assert two_tasks.collect("tasks/slice", "tasks/cut") == BOTH[::-1]


def test_expressions_choose_tasks(two_tasks: Project) -> None:
    assert two_tasks.collect("tasks", "-k", "cut") == BOTH[:1]
    assert two_tasks.collect("tasks", "-k", "trial1 and not cut") == BOTH[1:]
    assert two_tasks.collect("tasks", "-m", "tabular", "--strict-markers") == BOTH[:1]
    assert two_tasks.collect("tasks", "-m", "not tabular") == BOTH[1:]
    assert two_tasks.collect("tasks", "--deselect", BOTH[0]) == BOTH[1:]


def test_options_and_the_ini_file_ask_for_tasks(two_tasks: Project) -> None:
    assert two_tasks.collect() == []
    assert two_tasks.collect("--mlab-tasks=tasks") == BOTH
    assert two_tasks.collect("--mlab-tasks", two_tasks.tasks) == BOTH
    two_tasks.write("pytest.ini", "[pytest]\nmlab_tasks = tasks\n")
    assert two_tasks.collect() == BOTH
    two_tasks.write("test_own.py", "def test_own(): pass\n")
    assert two_tasks.collect() == [*BOTH, "test_own.py::test_own"]
    assert two_tasks.collect("--mlab-seed=1") == BOTH
    assert two_tasks.collect("test_own.py") == ["test_own.py::test_own"]


def test_folders_of_tasks_are_seen_from_where_they_are_named(
    two_tasks: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_tasks.write("pytest.ini", "[pytest]\nmlab_tasks = tasks\n")
    (two_tasks.path / "sub").mkdir()
    monkeypatch.chdir(two_tasks.path / "sub")
    assert two_tasks.collect() == BOTH
    assert two_tasks.collect("--mlab-tasks=../tasks") == BOTH
    assert two_tasks.collect("../tasks/cut") == BOTH[:1]
    assert "no folder" in two_tasks.refuse("--mlab-tasks=tasks")


def test_the_product_of_agents_and_trials_is_collected_in_a_fixed_order(project: Project) -> None:
    project.task("cut")
    args = ["tasks", "--mlab-agent=solution", "--mlab-agent=agents:Tuner", "--mlab-trials=2"]
    ids = project.collect(*args)
    assert ids == [
        nodeid("cut", agent, trial) for agent in ("solution", "agents:Tuner") for trial in (1, 2)
    ]
    assert project.collect(*args, "--mlab-agent=solution") == ids


def test_nothing_in_a_task_folder_is_collected_but_the_task(project: Project) -> None:
    test = "def test_starter(): raise SystemExit('collected')\n"
    names = ["test_score.py", "workspace/test_train.py", "solution/train_test.py"]
    project.task("cut", files=dict.fromkeys(names, test))
    project.write("pytest.ini", "[pytest]\npython_files = *.py\npython_functions = check\n")
    for args in (["tasks"], ["--mlab-agent=baseline", "."], ["tasks", "--import-mode=importlib"]):
        ids = project.collect(*args)
        assert [name for name in ids if "task.toml" not in name] == []
        assert len(ids) == 1


def test_a_broken_task_is_an_error_with_the_remedy_and_the_others_run(
    project: Project, plugin_args: tuple[str, ...]
) -> None:
    project.task("broken", baseline={"scor": 0.7})
    project.task("cut")
    run = project.run(*plugin_args, "tasks", "--mlab-agent=solution")
    run.assert_outcomes(passed=1, errors=1)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(
        ["*ERROR collecting tasks/broken/task.toml*", "*broken/task.toml: *scor*did you mean*"]
    )
    run.stdout.no_fnmatch_line("*Traceback*")
    assert project.statuses() == {"cut": "success"}


def test_a_task_folder_may_be_the_root_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.task("cut")
    monkeypatch.chdir(folder)
    ids = project.collect("--rootdir", folder, ".")
    assert ids == ["task.toml::test_beats_baseline[cut-hillclimb-trial1]"]


@pytest.fixture
def empty(project: Project) -> Project:
    """An empty folder, in which nothing but the installed package can provide tasks."""
    for path in project.path.iterdir():
        path.unlink()
    return project


def test_bundled_tasks_are_there_in_an_empty_folder(empty: Project) -> None:
    bundled = ["diabetes", "digits", "house-price", "vectorization"]
    ids = [nodeid(task) for task in bundled]
    assert set(empty.collect("--mlab-agent=baseline")) >= set(ids)
    assert empty.collect("--mlab-agent=baseline", "tasks/digits") == [nodeid("digits")]
    assert empty.collect("--mlab-agent=baseline", nodeid("digits")) == [nodeid("digits")]
    assert set(empty.collect("tasks")) >= {nodeid(task, "hillclimb") for task in bundled}
    assert empty.collect() == []
    message = empty.refuse("tasks/digit")
    assert "no tasks/digit" in message
    assert "tasks/digits" in message


@pytest.mark.slow
def test_a_bundled_task_runs_in_an_empty_folder(
    empty: Project, plugin_args: tuple[str, ...]
) -> None:
    run = empty.run(*plugin_args, "tasks/digits", "--mlab-agent=baseline")
    run.assert_outcomes(failed=1)
    (result,) = empty.results().values()
    assert result.nodeid == nodeid("digits")
    assert result.status == "below-threshold"
    assert Path(result.folder).is_relative_to(empty.path / ".mlab")


def test_own_tasks_come_before_bundled_ones_of_the_same_name(project: Project) -> None:
    project.task("digits", title="Mine")
    assert project.collect("tasks/digits", "--mlab-agent=baseline") == [nodeid("digits")]
    assert project.collect("tasks/diabetes", "--mlab-agent=baseline") == [nodeid("diabetes")]
    shutil.rmtree(project.tasks / "digits")
    assert project.refuse("tasks/digits/nothing") == (
        "file or directory not found: tasks/digits/nothing"
    )
