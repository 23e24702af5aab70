"""The JUnit file: figures on every test case, and on the suite."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given

from pytest_mlab.reporting.junit import junit_properties, suite_properties
from pytest_mlab.reporting.summary import summarise
from pytest_mlab.results import Result
from tests.reporting.builders import make_result, make_results, results
from tests.reporting.conftest import RunTrials
from tests.reporting.test_collector import CRASH, DIGITS, SKIP

pytest_plugins = ["pytester"]


def properties(element: ET.Element) -> dict[str, str]:
    found = element.findall("./properties/property")
    return {each.attrib["name"]: each.attrib["value"] for each in found}


def suite(path: Path) -> ET.Element:
    element = ET.parse(path).getroot().find("testsuite")
    assert element is not None
    return element


@given(results())
def test_properties_are_builtin_scalars(result: Result) -> None:
    for name, value in junit_properties(result):
        assert name.startswith("mlab.")
        assert type(value) in (str, int, float, bool)
        assert json.loads(json.dumps(value)) == value


def test_what_a_trial_has_no_value_for_is_left_out() -> None:
    names = dict(junit_properties(make_result("no-submission", stop="gave-up")))

    assert names["mlab.stop"] == "gave-up"
    assert names["mlab.success"] is False
    assert not {"mlab.llm", "mlab.score", "mlab.improvement", "mlab.folder"} & set(names)


def test_the_suite_has_the_success_rate_and_its_interval() -> None:
    figures = dict(suite_properties(summarise(make_results("SSSBBINH")), not_run=2))

    assert figures["mlab.success_rate"] == 0.375
    assert figures["mlab.success_rate_low"] == pytest.approx(0.137, abs=1e-3)
    assert figures["mlab.success_rate_high"] == pytest.approx(0.694, abs=1e-3)
    assert figures["mlab.not_run"] == 2


def test_every_case_and_the_suite_have_their_figures(
    run_trials: RunTrials, plugin_args: tuple[str, ...], pytester: pytest.Pytester
) -> None:
    run_trials(*plugin_args, "--junitxml=junit.xml", test_digits=DIGITS, test_cifar10=SKIP)

    element = suite(pytester.path / "junit.xml")
    cases = [case for case in element.findall("testcase") if case.find("skipped") is None]
    assert len(cases) == 4
    for case in cases:
        figures = properties(case)
        success = figures["mlab.trial"] != "0"
        assert figures["mlab.task"] == "digits"
        assert figures["mlab.status"] == ("success" if success else "below-threshold")
        assert figures["mlab.success"] == str(success)
        assert float(figures["mlab.baseline"]) == 0.8
        assert (case.find("failure") is None) == success
    figures = properties(element)
    assert figures["mlab.success_rate"] == "0.75"
    assert figures["mlab.trials"] == "4"
    assert figures["mlab.skipped"] == "1"


def test_a_crashed_trial_is_an_error_with_figures(
    run_trials: RunTrials, pytester: pytest.Pytester
) -> None:
    run_trials("-n2", "--junitxml=junit.xml", test_digits=DIGITS, test_crash=CRASH)

    element = suite(pytester.path / "junit.xml")
    (crashed,) = [case for case in element.findall("testcase") if case.find("error") is not None]
    assert properties(crashed)["mlab.task"] == "crash"
    assert properties(crashed)["mlab.status"] == "harness-error"
    assert properties(element)["mlab.errors"] == "1"
    assert properties(element)["mlab.trials"] == "5"
