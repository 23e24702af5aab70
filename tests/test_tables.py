"""TOML tables become dataclasses; what is wrong is said with file, key and remedy."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_mlab import TaskError
from pytest_mlab.tables import Table, read_table

FILE = Path("/tasks/x/task.toml")


@dataclass(frozen=True)
class Shape:
    """One key of each kind."""

    name: str
    goal: Literal["up", "down"] = "up"
    size: float = 1.0
    count: int = 1
    flag: bool = False
    parts: tuple[str, ...] = ()
    bound: float | None = None


def read(**values: Any) -> Shape:
    return Table({"shape": values}, FILE).table("shape").read(Shape)


def test_a_table_is_read_into_a_dataclass_with_its_defaults() -> None:
    assert read(name="a") == Shape("a")
    assert read(name="a", goal="down", size=2, count=3, flag=True, parts=["p"], bound=0) == Shape(
        "a", "down", 2.0, 3, True, ("p",), 0.0
    )


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("name", 3, 'is 3; give a string in quotes, such as "text"'),
        ("name", True, "is True; give a string"),
        ("goal", "sideways", """is 'sideways'; give "up" or "down\""""),
        ("goal", [], 'is []; give "up" or "down"'),
        ("size", "1.5", "is '1.5'; give a number, such as 0.5"),
        ("size", True, "is True; give a number"),
        ("size", float("nan"), "is nan; give a finite number"),
        ("size", float("inf"), "is inf; give a finite number"),
        ("size", 10**400, "give a finite number"),
        ("bound", "none", "is 'none'; give a number"),
        ("count", 1.5, "is 1.5; give a whole number, such as 3"),
        ("count", True, "is True; give a whole number"),
        ("flag", 1, "is 1; give true or false"),
        ("parts", "one", "is 'one'; give a list of strings"),
        ("parts", ["one", 2], "give a list of strings"),
    ],
)
def test_a_value_of_a_wrong_kind_is_named_with_its_remedy(
    key: str, value: object, remedy: str
) -> None:
    with pytest.raises(TaskError) as error:
        read(**({"name": "a"} | {key: value}))
    assert str(error.value).startswith(f"{FILE}: [shape] {key} is ")
    assert remedy in str(error.value)


def test_a_missing_key_is_named_with_what_it_takes() -> None:
    with pytest.raises(TaskError, match=r"\[shape\] name is missing; give a string in quotes"):
        read()


def test_an_unknown_key_is_refused_and_the_nearest_one_suggested() -> None:
    with pytest.raises(TaskError, match=r'\[shape\] gaol is not a key .*did you mean "goal"\?'):
        read(name="a", gaol="up")
    with pytest.raises(TaskError, match=r"\[shape\] zzz is not a key .*known: name, goal, size"):
        read(name="a", zzz=1)


def test_a_value_in_place_of_a_table_is_refused() -> None:
    with pytest.raises(TaskError, match=r"task.toml: shape is 3; give a table"):
        Table({"shape": 3}, FILE).table("shape")


def test_defaults_fill_up_a_table_and_are_overridden_by_it() -> None:
    top = Table({"shape": {"size": 2}}, FILE)
    assert top.table("shape", name="given", size=9).read(Shape) == Shape("given", size=2.0)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a = ", "is not valid TOML"),
        (b"a = 1\na = 2\n", "is not valid TOML"),
        (b"a = '\xff'", "is not valid TOML"),
        (b"a = " + b"9" * 5000, "is not valid TOML"),
        (b"a = " + b"[" * 100_000, "is not valid TOML"),
    ],
    ids=["no value", "twice", "not UTF-8", "endless number", "endless nesting"],
)
def test_a_file_that_is_no_toml_is_a_task_error(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    file = tmp_path / "task.toml"
    file.write_bytes(content)
    with pytest.raises(TaskError, match=problem) as error:
        read_table(file)
    assert str(file) in str(error.value)


def test_a_file_that_is_missing_is_a_task_error(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read: No such file"):
        read_table(tmp_path / "task.toml")


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(st.dictionaries(st.sampled_from(["name", "goal", "size", "count", "parts"]), JSON_LIKE))
def test_whatever_stands_there_is_read_or_refused_with_a_message(values: dict[str, Any]) -> None:
    with contextlib.suppress(TaskError):
        shape = read(**values)
        assert (type(shape.name), type(shape.size), type(shape.count)) == (str, float, int)
