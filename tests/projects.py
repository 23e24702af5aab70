"""A project that uses the plugin, made by a test, and sessions of pytest in it."""

import importlib.util
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from pytest_mlab.results import Result
from tests import folders

BLOCKED = ("hypothesispytest", "anyio")
"""Plugins that take longer to import than such a session takes to run."""

AGENTS = Path(__file__).with_name("sample_agents.py")


class Project:
    """A folder with task folders below ``tasks`` and agents in ``agents.py``."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.tasks = self.path / "tasks"
        pytester.makefile(".ini", pytest="[pytest]\n")
        self.write("agents.py", AGENTS.read_text(encoding="utf-8"))

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def task(
        self, name: str, *, files: Mapping[str, str | None] | None = None, **tables: Any
    ) -> Path:
        """Write a task folder, as `tests.folders.make_task` does."""
        return folders.make_task(self.tasks, name, files=files, **tables)

    def run(self, *args: object) -> pytest.RunResult:
        """Run pytest in a process of its own."""
        blocked = [part for name in BLOCKED for part in ("-p", f"no:{name}")]
        return self.pytester.runpytest_subprocess(*blocked, *map(str, args), timeout=120)

    def collect(self, *args: object) -> list[str]:
        """Give the ids that pytest collects."""
        run = self.run("--collect-only", "-q", *args)
        assert not run.errlines, run.stderr.str()
        return [line for line in run.outlines if "::" in line]

    def refuse(self, *args: object) -> str:
        """Give the message with which pytest refuses to start."""
        run = self.run(*args)
        assert run.ret == pytest.ExitCode.USAGE_ERROR, run.stdout.str() + run.stderr.str()
        assert "Traceback" not in run.stderr.str() + run.stdout.str()
        lines = [line for line in run.errlines if line.strip()]
        assert len(lines) == 1, lines
        return lines[0].removeprefix("ERROR: ")

    @property
    def sessions(self) -> list[Path]:
        """The folders of records, oldest first."""
        return sorted((self.path / ".mlab").glob("*/"), key=lambda path: path.stat().st_mtime_ns)

    def document(self) -> dict[str, Any]:
        """Give the document of the last session."""
        text = (self.sessions[-1] / "results.json").read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
        return document

    def results(self) -> dict[str, Result]:
        """Give the results of the last session by their tests' ids; every id has one."""
        results = [Result.from_dict(record) for record in self.document()["results"]]
        assert len({result.nodeid for result in results}) == len(results)
        return {result.nodeid: result for result in results}

    def statuses(self) -> dict[str, str]:
        """Give the status of each task or agent that was tried once in the last session."""
        return {result.task: result.status for result in self.results().values()}


def nodeid(task: str, agent: str = "baseline", trial: int = 1) -> str:
    """Give the id of a trial."""
    return f"tasks/{task}/task.toml::test_beats_baseline[{task}-{agent}-trial{trial}]"


def read_junit(file: Path) -> tuple[dict[str, str], dict[str, ET.Element]]:
    """Give the properties of the suite and the test cases by name of a JUnit file."""
    (suite,) = ET.parse(file).getroot().iter("testsuite")
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    assert int(suite.attrib["tests"]) == len(cases)
    return properties(suite), cases


def properties(element: ET.Element) -> dict[str, str]:
    """Give the properties of a suite or a test case."""
    pairs = [
        (prop.attrib["name"], prop.attrib["value"]) for prop in element.findall("properties/*")
    ]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def has_xdist() -> bool:
    """Tell whether pytest-xdist is installed."""
    return importlib.util.find_spec("xdist") is not None


def ways_to_run() -> Iterator[Any]:
    """Give the ways in which a session may run: without xdist, with it idle, with two workers."""
    needs_xdist = pytest.mark.skipif(not has_xdist(), reason="pytest-xdist is not installed")
    yield pytest.param(("-p", "no:xdist"), id="no-xdist")
    for option in ("-n0", "-n2"):
        yield pytest.param((option,), id=option, marks=needs_xdist)
