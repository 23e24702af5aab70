"""Reading TOML tables into dataclasses, with errors that name file, key and remedy."""

import dataclasses
import difflib
import functools
import math
import tomllib
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pytest_mlab.exceptions import TaskError

T = TypeVar("T")

_WORDS = {
    str: 'a string in quotes, such as "text"',
    int: "a whole number, such as 3",
    float: "a number, such as 0.5",
    bool: "true or false",
    tuple: 'a list of strings, such as ["a", "b"]',
    dict: "a table",
}


class Table:
    """One table of a TOML file, read key by key; `finish` refuses what nobody asked for."""

    def __init__(self, values: Mapping[str, Any], file: Path, name: str = "") -> None:
        self._values = values
        self._file = file
        self._name = name
        self._asked: list[str] = []

    def error(self, key: str, problem: str) -> TaskError:
        """Make the error that says where and what: ``problem`` continues the key's name."""
        place = f"[{self._name}] {key}" if self._name else key
        return TaskError(f"{self._file}: {place} {problem}")

    def table(self, key: str, **defaults: Any) -> "Table":
        """Give the table under a key, an empty one where there is none, filled up with defaults."""
        return Table(defaults | self._get(key, dict, {}), self._file, key)

    def take(self, key: str, kind: Any, default: Any = dataclasses.MISSING) -> Any:
        """Give the value under a key as ``kind``; without a default, the key must be there."""
        return self._get(key, kind, default)

    def read(self, cls: type[T]) -> T:
        """Read the whole table as a dataclass, each field being a key."""
        known: Any = cls
        values = {key: self._get(key, kind, default) for key, kind, default in _fields(known)}
        self.finish()
        return cls(**values)

    def finish(self) -> None:
        """Refuse keys that nobody asked for, and suggest the one that was meant."""
        for key in self._values:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(self._asked)}"
                raise self.error(key, f"is not a key of the task format; {hint}")

    def _get(self, key: str, kind: Any, default: Any) -> Any:
        self._asked.append(key)
        if key not in self._values:
            if default is dataclasses.MISSING:
                raise self.error(key, f"is missing; give {_describe(kind)}")
            return default
        return self._convert(key, self._values[key], kind)

    def _convert(self, key: str, value: Any, kind: Any) -> Any:
        if type(value) is kind and kind is not float:
            return value
        kind = _without_none(kind)
        if get_origin(kind) is Literal:
            if value in get_args(kind):
                return value
        elif kind is tuple or get_origin(kind) is tuple:
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                return tuple(value)
        elif kind is float:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return self._finite(key, value)
        elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        raise self.error(key, f"is {_show(value)}; give {_describe(kind)}")

    def _finite(self, key: str, value: float) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.error(key, f"is {_show(value)}; give a finite number")
        return number


def read_table(file: Path) -> Table:
    """Read a TOML file; raises `TaskError` where that cannot be done."""
    try:
        return Table(tomllib.loads(file.read_bytes().decode()), file)
    except OSError as error:
        raise TaskError(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{file}: is not valid TOML: {error}") from error


@functools.cache
def _fields(cls: type) -> list[tuple[str, Any, Any]]:
    """Give name, type and default of each field of a dataclass."""
    hints = get_type_hints(cls)
    return [(field.name, hints[field.name], field.default) for field in dataclasses.fields(cls)]


def _without_none(kind: Any) -> Any:
    if get_origin(kind) is types.UnionType:
        return next(arg for arg in get_args(kind) if arg is not types.NoneType)
    return kind


def _describe(kind: Any) -> str:
    kind = _without_none(kind)
    if get_origin(kind) is Literal:
        return " or ".join(f'"{value}"' for value in get_args(kind))
    return _WORDS[get_origin(kind) or kind]


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
