"""Installed files that hold a task's answers are found, and no agent's process can read them."""

import sys
from pathlib import Path

import iniconfig  # comes with pytest
import pytest

from pytest_mlab import TaskError
from pytest_mlab import concealment as module
from pytest_mlab.actions import ACTIONS
from pytest_mlab.concealment import find_concealed
from pytest_mlab.sandbox import find_sandbox
from pytest_mlab.scoring import score_workspace
from pytest_mlab.world import open_environment
from tests.folders import load
from tests.sandbox.conftest import get_sandbox
from tests.worlds import make_setup


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of installed packages, one of which holds data."""
    folder = tmp_path / "site-packages"
    (folder / "library" / "data").mkdir(parents=True)
    for name in ("wine.csv", "digits.csv", "digits_names.csv"):
        (folder / "library" / "data" / name).touch()
    monkeypatch.setattr(module, "_package_folders", lambda: (folder,))
    return folder


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("library/data/digits.csv", ["library/data/digits.csv"]),
        ("library/data/digits*", ["library/data/digits.csv", "library/data/digits_names.csv"]),
        ("library", ["library"]),
        ("not_installed/data/digits.csv", []),
        ("/no/such/folder", []),
    ],
)
def test_what_is_named_is_found(
    packages: Path, tmp_path: Path, name: str, found: list[str]
) -> None:
    task = load(tmp_path, data={"conceal": [name]})
    assert find_concealed(task) == tuple(packages / path for path in found)


def test_a_path_may_be_absolute(packages: Path, tmp_path: Path) -> None:
    path = packages / "library" / "data"
    assert find_concealed(load(tmp_path, data={"conceal": [str(path)]})) == (path,)


def test_a_package_that_keeps_its_data_elsewhere_is_an_error(
    packages: Path, tmp_path: Path
) -> None:
    """Else a new version of a library would open the answers without a word."""
    task = load(tmp_path, data={"conceal": ["library/data/digits.gz"]})
    with pytest.raises(TaskError) as error:
        find_concealed(task)
    assert str(error.value) == (
        f'{task.folder}: [data] conceal has "library/data/digits.gz", of which there is nothing in '
        f"{packages}; say where this version of library keeps the data"
    )


def test_a_name_that_leads_out_of_the_packages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r'\[data\] conceal has "\.\./library"; give a path'):
        load(tmp_path, data={"conceal": ["../library"]})


@pytest.mark.parametrize(("kind", "holds"), [("none", False), ("bwrap", True), ("landlock", True)])
@pytest.mark.parametrize("name", ["iniconfig", "iniconfig/__init__.py"], ids=["folder", "file"])
def test_an_agent_cannot_read_it_and_a_scorer_can(
    tmp_path: Path, name: str, kind: str, holds: bool
) -> None:
    get_sandbox(kind)
    script = f"print('re' + 'ad', open({iniconfig.__file__!r}).read(1))"
    scorer = "import iniconfig\niniconfig.IniConfig\n\ndef score(a, b):\n    return 0.9\n"
    task = load(
        tmp_path, data={"conceal": [name]}, files={"workspace/peek.py": script, "score.py": scorer}
    )
    setup = make_setup(tmp_path / "trial", task, sandbox=find_sandbox(kind))
    with open_environment(setup, ACTIONS) as environment:
        environment.start()
        seen = environment.act("Execute Script", script_name="peek.py")
        typed = environment.act("Python REPL", command=script)
        environment.act("Write File", file_name="submission.csv", content="")
    assert ("read " not in seen.text) is holds
    assert ("read " not in typed.text) is holds
    score = score_workspace(task, setup.workspace.root, setup.data, setup.sandbox)
    assert score.value == 0.9


def test_the_folders_of_packages_are_those_of_our_python() -> None:
    assert Path(sys.modules["pytest"].__file__ or "").parents[1] in module._package_folders()
