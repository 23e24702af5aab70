"""In a project that asks for no task, pytest is as it is without the plugin."""

import re
import subprocess
import sys

import pytest

from tests.folders import make_task
from tests.projects import BLOCKED, Project

FOREIGN = """
format = "rattler/2"
[metric]
name = 3
"""
TESTS = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_number(n):
    assert n < 2

@pytest.mark.skip(reason="later")
def test_skipped():
    pass
"""


@pytest.fixture
def unrelated(project: Project) -> Project:
    """A project of other people, with tests, a foreign ``task.toml`` and one of ours not asked."""
    (project.path / "agents.py").unlink()
    project.write("tools/task.toml", FOREIGN)
    project.write("tools/test_tool.py", TESTS)
    make_task(project.path / "vendor" / "tasks", "cut")
    project.write("vendor/tasks/cut/workspace/test_starter.py", TESTS)
    return project


def output(run: pytest.RunResult) -> list[str]:
    """Give what a session printed, but for the list of plugins and the time it took."""
    text = re.sub(r"\d+\.\d+s|, mlab-[\w.]+|mlab-[\w.]+, ", "", run.stdout.str())
    # Workers share the tests out anew each time.
    text = re.sub(r"^[.sF]{2,} ", lambda letters: "".join(sorted(letters[0])), text, flags=re.M)
    text = re.sub(r"\bgw\d", "gw", text)
    return [line for line in text.splitlines() if not line.startswith("plugins:")]


def without(project: Project, *args: str) -> pytest.RunResult:
    """Run pytest without the plugin."""
    return project.run("-p", "no:pytest_mlab.plugin", *args)


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("-v", "-p", "no:cacheprovider"),
        ("--collect-only", "tools", "vendor"),
        ("tools/test_tool.py::test_number[2]", "-W", "error"),
        ("tools/nothing",),
        ("--fixtures-per-test", "-q"),
    ],
    ids=" ".join,
)
def test_it_collects_and_prints_the_same(unrelated: Project, args: tuple[str, ...]) -> None:
    plain, run = without(unrelated, *args), unrelated.run(*args)
    assert output(run) == output(plain)
    assert run.errlines == plain.errlines
    assert run.ret == plain.ret
    assert not (unrelated.path / ".mlab").exists()


def test_it_prints_the_same_with_workers(unrelated: Project) -> None:
    pytest.importorskip("xdist")
    plain, run = without(unrelated, "-n2"), unrelated.run("-n2")
    assert sorted(output(run)) == sorted(output(plain))
    assert run.ret == plain.ret
    assert not (unrelated.path / ".mlab").exists()


def test_loading_it_loads_nothing_heavy(unrelated: Project) -> None:
    unrelated.write(
        "conftest.py",
        "import sys\n\n"
        "def pytest_unconfigure():\n"
        "    print(*sorted(name for name in sys.modules), file=open('loaded', 'w'))\n",
    )
    unrelated.run()
    loaded = set((unrelated.path / "loaded").read_text().split())
    ours = {name for name in loaded if name.split(".")[0] == "pytest_mlab"}
    assert ours == {
        "pytest_mlab",
        "pytest_mlab.conventions",
        "pytest_mlab.discovery",
        "pytest_mlab.exceptions",
        "pytest_mlab.hookspec",
        "pytest_mlab.mlagentbench",
        "pytest_mlab.options",
        "pytest_mlab.plugin",
    }
    assert not loaded & {"anthropic", "filelock", "numpy", "openai", "pandas", "rich", "sklearn"}


def test_help_and_markers_tell_of_it(unrelated: Project) -> None:
    run = unrelated.run("--help")
    run.stdout.fnmatch_lines(["ML agent benchmark:", "*--mlab-llm=NAME*", "*--mlab-json=PATH*"])
    text = run.stdout.str()
    group = text[text.index("ML agent benchmark:") :].split("\n\n")[0]
    assert group.count("\n  --mlab-") == text.count("\n  --mlab-")
    run = unrelated.run("--markers")
    run.stdout.fnmatch_lines(["@pytest.mark.mlab_task(*): *"])


def test_a_bare_checkout_needs_no_installation(unrelated: Project) -> None:
    """The plugin works by its name alone too, loaded twice over in effect."""
    blocked = [part for name in BLOCKED for part in ("-p", f"no:{name}")]
    args = ["-p", "pytest_mlab.plugin", "--collect-only", "-q", "vendor/tasks"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *blocked, *args],
        cwd=unrelated.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "vendor/tasks/cut/task.toml::test_beats_baseline[cut-hillclimb-trial1]" in run.stdout
