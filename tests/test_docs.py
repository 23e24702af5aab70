"""The documentation names what there is, and what it names is there."""

import inspect
import re
from pathlib import Path

import pytest

from pytest_mlab import hookspec, plugin
from pytest_mlab.allowance import parse_allowance
from pytest_mlab.gates import Claim, Evidence, RateGate, Verdict, parse_gate
from pytest_mlab.options import OPTIONS
from pytest_mlab.reporting.terminal import gate_lines

ROOT = Path(__file__).parents[1]
DOCS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTIONS_PAGE = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")


def test_every_option_is_explained() -> None:
    named = set(re.findall(r"^\| `(--mlab-[a-z-]+)", OPTIONS_PAGE, flags=re.MULTILINE))
    assert named == {option.flag for option in OPTIONS}


def test_every_fixture_is_explained() -> None:
    fixtures = {name for name in vars(plugin) if name.startswith("mlab_")}
    named = set(re.findall(r"^\| `(mlab_[a-z]+)`", OPTIONS_PAGE, flags=re.MULTILINE))
    assert named == fixtures


def test_every_hook_is_explained_with_its_arguments() -> None:
    hooks = {
        f"{name}({', '.join(inspect.signature(hook).parameters)})"
        for name, hook in vars(hookspec).items()
        if name.startswith("pytest_mlab_")
    }
    named = set(re.findall(r"^\| `(pytest_mlab_[^`]+)`", OPTIONS_PAGE, flags=re.MULTILINE))
    assert named == hooks


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_options_that_are_named_exist(page: Path) -> None:
    known = {option.flag for option in OPTIONS}
    for flag in re.findall(r"--mlab-[a-z]+(?:-[a-z]+)*", page.read_text(encoding="utf-8")):
        assert flag in known, f"{page.name} speaks of {flag}"


def test_ci_runs_the_command_that_the_readme_names() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = next(line for line in readme.splitlines() if "tox" in line and "pip" in line)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_gates_that_are_named_are_gates() -> None:
    page = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    quoted = re.findall(r'--mlab-gate "([^"]+)"', page)
    bare = re.findall(r"--mlab-gate (no-worse-than=\S+)", page)
    assert len(quoted) >= 4
    assert all(parse_gate(text) for text in [*quoted, *bare])


def test_the_verdict_on_the_page_is_what_is_printed() -> None:
    page = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    gate = RateGate("rate>=0.375", 0.375)
    judgement = gate.judge([{"digits": Evidence(5, 3)}], [{"digits": 8}])
    verdict = Verdict(gate.text, {Claim("mine", None): judgement})
    assert "\n".join(gate_lines(verdict, 100)) in page


def test_budgets_that_are_named_are_budgets() -> None:
    for page in DOCS:
        for text in re.findall(r"`(\d+usd,[^`]*)`", page.read_text(encoding="utf-8")):
            parse_allowance(text)
