"""A task folder is loaded, or refused with the file, the key and the remedy."""

from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import TaskError
from pytest_mlab.taskfile import load_task
from tests.folders import load, make_task


def refusal(folder: Path) -> str:
    """Give the message with which a folder is refused."""
    with pytest.raises(TaskError) as error:
        load_task(folder)
    return str(error.value)


def test_a_valid_folder_is_loaded_whole(tmp_path: Path) -> None:
    task = load(tmp_path, tags=["tabular"], resources={"requires": ["pandas>=2"]})
    assert (task.name, task.title, task.tags) == ("threshold", "Find the threshold", ("tabular",))
    assert task.instruction.startswith("Find the threshold above")
    assert (task.metric.name, task.metric.goal, task.metric.bound) == ("accuracy", "maximize", 1.0)
    assert (task.baseline.score, task.limits.steps) == (0.7, 30)
    assert task.resources.requires == ("pandas>=2",)
    assert task.scorer == tmp_path / "threshold" / "score.py"


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    files = {"prepare.py": None, "solution/train.py": None}
    task = load(tmp_path, files=files, limits=None, submission=None)
    assert (task.preparer, task.solution) == (None, None)
    assert (task.limits.seconds, task.limits.steps) == (18_000, 50)
    assert task.submission.file == "submission.csv"


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"format": "mlab/2"}, 'format is "mlab/2"; this version of pytest-mlab reads "mlab/1"'),
    ({"format": None}, "format is missing"),
    ({"title": None}, "title is missing; give a string in quotes"),
    ({"title": 3}, "title is 3; give a string in quotes"),
    ({"tags": "tabular"}, "tags is 'tabular'; give a list of strings"),
    ({"tags": ["a b"]}, 'tags has "a b"; a tag becomes a marker: letters, digits, _, -'),
    ({"tags": ["skip"]}, 'tags has "skip", a marker with a meaning of its own; rename it'),
    ({"starter": "main.py"}, 'starter names "main.py", which is not in'),
    ({"starter": "../score.py"}, 'starter names "../score.py", which is not in'),
    ({"starter": "/bin/sh"}, 'starter names "/bin/sh", which is not in'),
    ({"starter": ["train.py"]}, "starter is ['train.py']; give a string"),
    ({"read_only": "data"}, "read_only is 'data'; give a list of strings"),
    ({"sumbission": {}}, 'sumbission is not a key of the task format; did you mean "submission"?'),
    ({"submission": "a.csv"}, "submission is 'a.csv'; give a table"),
    ({"submission": {"file": "../a.csv"}}, '[submission] file is "../a.csv"; name a file within'),
    ({"submission": {"file": "/a.csv"}}, '[submission] file is "/a.csv"; name a file within'),
    ({"submission": {"file": "."}}, '[submission] file is "."; name a file within'),
    ({"submission": {"file": ""}}, '[submission] file is ""; name a file within'),
    ({"submission": {"file": "a\0b"}}, "[submission] file is"),
    ({"submission": {"max_mb": 0}}, "[submission] max_mb is 0.0; give a number above 0"),
    ({"submission": {"max_mb": "1"}}, "[submission] max_mb is '1'; give a number"),
    ({"submission": {"files": "a"}}, "[submission] files is not a key of the task format; did you"),
    ({"data": {"answers": "../a.npy"}}, '[data] answers is "../a.npy"; name a file within the'),
    ({"data": {"answers": "a.pkl"}}, '[data] answers is "a.pkl"; name a file within the private'),
    ({"metric": None}, "[metric] name is missing; give a string"),
    ({"metric": {"name": None}}, "[metric] name is missing; give a string"),
    ({"metric": {"goal": None}}, '[metric] goal is missing; give "minimize" or "maximize"'),
    ({"metric": {"goal": "min"}}, """[metric] goal is 'min'; give "minimize" or "maximize\""""),
    ({"metric": {"bound": "1"}}, "[metric] bound is '1'; give a number"),
    ({"baseline": None}, "[baseline] score is missing; give a number"),
    ({"baseline": {"score": 0}}, "[baseline] score is 0, of which no fraction can be taken"),
    ({"baseline": {"score": float("nan")}}, "[baseline] score is nan; give a finite number"),
    ({"baseline": {"score": float("inf")}}, "[baseline] score is inf; give a finite number"),
    ({"baseline": {"std": -1}}, "[baseline] std is -1.0; give 0 or more"),
    ({"baseline": {"runs": 0}}, "[baseline] runs is 0; give a number above 0"),
    ({"baseline": {"runs": 2.5}}, "[baseline] runs is 2.5; give a whole number"),
    ({"baseline": {"measured": 1}}, "[baseline] measured is 1; give true or false"),
    ({"limits": {"seconds": 0}}, "[limits] seconds is 0.0; give a number above 0"),
    ({"limits": {"steps": -1}}, "[limits] steps is -1; give a number above 0"),
    ({"limits": {"scoring_seconds": 0}}, "[limits] scoring_seconds is 0.0; give a number above 0"),
    ({"limits": {"preparing_seconds": -2}}, "[limits] preparing_seconds is -2.0; give a number"),
    ({"limits": {"expected_seconds": 0}}, "[limits] expected_seconds is 0.0; give a number"),
    ({"resources": {"gpus": -1}}, "[resources] gpus is -1; give 0 or more"),
    ({"resources": {"gpus": "all"}}, "[resources] gpus is 'all'; give a whole number"),
    ({"resources": {"memory_gb": 0}}, "[resources] memory_gb is 0.0; give a number above 0"),
    ({"resources": {"workspace_gb": 0}}, "[resources] workspace_gb is 0.0; give a number above 0"),
    ({"resources": {"workspace_files": -1}}, "[resources] workspace_files is -1; give a number"),
    ({"resources": {"requires": "pandas"}}, "[resources] requires is 'pandas'; give a list"),
    ({"resources": {"requires": ["a b!"]}}, '[resources] requires has "a b!"; name packages as'),
    ({"data": {"packages": ["a b!"]}}, '[data] packages has "a b!"; name packages as'),
    ({"data": {"sha256": 7}}, "[data] sha256 is 7; give a string"),
]


@pytest.mark.parametrize(("tables", "message"), MALFORMED, ids=[m for _, m in MALFORMED])
def test_a_malformed_key_is_refused_with_file_key_and_remedy(
    tmp_path: Path, tables: dict[str, Any], message: str
) -> None:
    folder = make_task(tmp_path, **tables)
    assert refusal(folder).startswith(f"{folder / 'task.toml'}: {message}")


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        ("instruction.md", "write the research problem there, in UTF-8"),
        ("score.py", "is missing; it is what is defines score"),
        ("workspace/train.py", "is missing; it is what is copied afresh for every trial"),
        ("task.toml", "cannot be read: No such file or directory"),
    ],
)
def test_a_missing_file_is_named_with_what_it_is_for(
    tmp_path: Path, file: str, remedy: str
) -> None:
    folder = make_task(tmp_path, files={file: None})
    assert str(folder / file.partition("/")[0]) in refusal(folder)
    assert remedy in refusal(folder)


def test_a_starter_that_is_no_python_script_is_refused(tmp_path: Path) -> None:
    folder = make_task(tmp_path, starter="run.sh", files={"workspace/run.sh": "true"})
    assert 'starter is "run.sh"; name a Python script (.py)' in refusal(folder)


def test_a_solution_that_is_a_file_is_refused(tmp_path: Path) -> None:
    folder = make_task(tmp_path, files={"solution/train.py": None, "solution": "CUT = 4"})
    assert f"{folder / 'solution'}: is not a folder" in refusal(folder)


def test_a_folder_whose_name_cannot_be_part_of_a_test_id_is_refused(tmp_path: Path) -> None:
    assert "rename the folder" in refusal(make_task(tmp_path, "my task[1]"))
