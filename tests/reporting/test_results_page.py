"""The page about results describes all there is, and shows what is really printed."""

import json
import re
from importlib import resources
from pathlib import Path

from pytest_mlab.reporting.junit import junit_properties, suite_properties
from pytest_mlab.reporting.summary import summarise
from pytest_mlab.reporting.terminal import table_lines, total_lines
from pytest_mlab.results import STATUSES
from tests.reporting.builders import make_result, make_results

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
NAMES = set(re.findall(r"`([\w./-]+)`", PAGE))


def test_every_status_and_stop_is_described() -> None:
    schema = resources.files("pytest_mlab.reporting").joinpath("mlab-results-1.schema.json")
    stops = json.loads(schema.read_text())["$defs"]["result"]["properties"]["stop"]["enum"]

    assert set(STATUSES) | set(filter(None, stops)) <= NAMES


def test_every_key_of_the_document_is_described() -> None:
    schema = json.loads(
        resources.files("pytest_mlab.reporting").joinpath("mlab-results-1.schema.json").read_text()
    )
    places = [schema, schema["properties"]["summary"], *schema["$defs"].values()]
    keys = {key for place in places for key in place.get("properties", {})}

    assert keys <= NAMES


def test_every_junit_property_is_described() -> None:
    summary = summarise(make_results("SB"))
    result = make_result(
        llm="gpt-4", detail="x", flags=("z",), folder="y", best_score=1.0, resumed="s"
    )
    names = {name for name, _ in [*junit_properties(result), *suite_properties(summary)]}

    assert names <= NAMES


def test_the_table_is_the_one_that_is_printed() -> None:
    summary = summarise(
        [*make_results("SSSBBINH"), *make_results("BBBBBBBB", task="vectorization")]
    )

    printed = "\n".join([*table_lines(summary, 80), *total_lines(summary, 0, 80)])

    assert printed in PAGE
