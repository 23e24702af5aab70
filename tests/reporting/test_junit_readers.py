"""The JUnit file as others read it: a schema, a parser, and a renderer."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import xmlschema
from junitparser import xunit2

from tests.projects import Project

SCHEMA = Path(__file__).with_name("xunit2.xsd")
EVIL = "<b>&amp;]]> \x1b[31m\x00 </failure>"
AGENT = f"def act(environment):\n    raise ValueError({EVIL!r})\n"


@pytest.fixture
def report(project: Project, plugin_args: tuple[str, ...]) -> Path:
    """Give the file of a session: two successes, three failures, an error, two skips."""
    project.task("easy")
    project.task("other")
    project.task("broken", files={"score.py": "def score(*args):\n    raise OSError('disk')\n"})
    project.task("needy", resources={"requires": ["no-such-package"]})
    project.write("evil.py", AGENT)
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    agents = ("--mlab-agent=solution", "--mlab-agent=evil:act")
    project.run(*plugin_args, *agents, "tasks", "--junitxml=report.xml")
    return project.path / "report.xml"


def test_schema_parser_and_renderer_take_it(report: Path, project: Project) -> None:
    holds_to_the_schema(report)
    tells_outcomes_figures_and_traces(report, project)
    can_be_rendered(report)


def holds_to_the_schema(report: Path) -> None:
    """It does but for one thing: pytest writes properties of test cases, which Jenkins' has not."""
    schema = xmlschema.XMLSchema(SCHEMA)
    tree = ET.parse(report)
    faults = [str(error.reason) for error in schema.iter_errors(tree)]
    assert faults
    assert all("tag 'properties'" in fault for fault in faults), faults

    for case in tree.iter("testcase"):
        properties = case.find("properties")
        if properties is not None:
            case.remove(properties)
    schema.validate(tree)


def tells_outcomes_figures_and_traces(report: Path, project: Project) -> None:
    (suite,) = xunit2.JUnitXml.fromfile(str(report))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (8, 3, 1, 2)
    figures = {one.name: one.value for one in suite.properties()}
    assert (figures["mlab.trials"], figures["mlab.successes"]) == ("6", "2")

    cases: dict[str, Any] = {case.name: case for case in suite}
    success = cases["test_beats_baseline[easy-solution-trial1]"]
    assert success.result == []
    named = {one.name: one.value for one in success.properties()}
    assert (named["mlab.status"], named["mlab.input_tokens"]) == ("success", "0")
    attached = str(success.system_out).removeprefix("[[ATTACHMENT|").removesuffix("]]")
    assert (project.path / attached).samefile(named["mlab.trace"])
    assert sum("[[ATTACHMENT|" in str(case.system_out) for case in suite) == 6


def can_be_rendered(report: Path) -> None:
    page = report.with_suffix(".html")
    command = [sys.executable, "-m", "junit2htmlreport", str(report), str(page)]
    subprocess.run(command, check=True, capture_output=True)

    text = page.read_text(encoding="utf-8")
    assert "test_beats_baseline[easy-solution-trial1]" in text
    assert "mlab.improvement" in text
    assert "[[ATTACHMENT|.mlab/" in text
    assert "<b>&amp;]]>" not in text
