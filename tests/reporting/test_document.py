"""The results document: as its schema says, whole or not at all."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.exceptions import UsageError
from pytest_mlab.reporting.document import check_path, make_document, write_document
from pytest_mlab.reporting.summary import Skip, summarise
from pytest_mlab.results import STATUSES, Result, Stop
from tests.reporting.builders import make_identity, make_results, results

SCHEMA = json.loads(
    resources.files("pytest_mlab.reporting").joinpath("mlab-results-1.schema.json").read_text()
)
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


def document(trials: list[Result], skips: list[Skip] | None = None) -> dict[str, Any]:
    skips = skips or []
    return make_document("20261121", trials, skips, ["tasks/a"], summarise(trials, skips))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@given(st.lists(results()))
def test_every_document_is_as_the_schema_says(trials: list[Result]) -> None:
    skips = [Skip(make_identity("cifar10"), "needs torch")]

    VALIDATOR.validate(json.loads(json.dumps(document(trials, skips), allow_nan=False)))


@pytest.mark.parametrize(
    "path",
    [
        ("schema",),
        ("results", 0, "status"),
        ("results", 0, "usage", "input_tokens"),
        ("skipped", 0, "reason"),
        ("summary", "total", "interval"),
        ("summary", "by_task", 0, "llm"),
    ],
)
def test_the_schema_misses_what_is_missing(path: tuple[str | int, ...]) -> None:
    broken = document(make_results("S"), [Skip(make_identity(), "needs torch")])
    place: Any = broken
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]

    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(broken)


def test_the_schema_names_every_key_that_is_written() -> None:
    definitions = SCHEMA["$defs"]
    (record,) = document(make_results("S"))["results"]

    described = definitions["identity"]["properties"] | definitions["result"]["properties"]
    assert set(described) == set(record)
    assert definitions["status"]["enum"] == list(STATUSES)
    assert definitions["result"]["properties"]["stop"]["enum"] == [*Stop.__args__, None]  # type: ignore[attr-defined]


def test_results_come_back_in_order_without_loss(tmp_path: Path) -> None:
    trials = make_results("SBINAPH")

    write_document(tmp_path / "results.json", document(trials))

    records = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["results"]
    assert [Result.from_dict(record) for record in records] == trials


def test_parent_folders_are_made_and_no_draft_is_left(tmp_path: Path) -> None:
    write_document(tmp_path / "a/b/results.json", {"schema": "mlab-results/1"})

    assert [path.name for path in (tmp_path / "a/b").iterdir()] == ["results.json"]


@pytest.mark.parametrize(("name", "message"), [(".", "is a folder"), ("file/x/y", "file")])
def test_a_path_that_cannot_be_written_to_is_refused(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match=f"--mlab-json .*{message}"):
        check_path("--mlab-json", tmp_path / name)


def test_a_link_is_followed_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")

    write_document(tmp_path / "link.json", {"schema": "mlab-results/1"})

    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["schema"] == "mlab-results/1"


def test_an_older_document_stays_if_the_new_one_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")

    with pytest.raises(ValueError, match="JSON"):
        write_document(path, {"rate": float("nan")})

    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]
