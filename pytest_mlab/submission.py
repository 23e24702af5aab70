"""Reading a submission that is a table, for a task's ``score.py``; standard library only.

Rows are matched by id, never by position, and columns by name; further columns are passed over.
Whatever is wrong with the file raises `InvalidSubmission` with one message. A message speaks only
of the submission and of what the agent was given anyway (the ids, the classes), so that handing in
files to see what is said about them tells nothing about the hidden answers.
"""

import csv
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from pytest_mlab.exceptions import InvalidSubmission, TaskError

ID = "id"


def read_answers(file: Path, column: str, *, id_column: str = ID) -> dict[str, str]:
    """Read the hidden answers of ``private``: what stands under ``column`` for each id, as text.

    Raises `TaskError`, because a wrong file here is never the agent's fault.
    """
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    try:
        answers = {row[id_column]: row[column] for row in rows}
    except KeyError as error:
        raise TaskError(f"{file}: has no column {error}; let prepare.py write it") from None
    if not rows or len(answers) != len(rows):
        raise TaskError(f"{file}: has {len(rows)} rows and {len(answers)} ids; give one row an id")
    return answers


def read_numbers(
    submission: Path, column: str, ids: Collection[str], *, id_column: str = ID
) -> list[float]:
    """Read one column of finite numbers, in the order of ``ids``, one for each id."""
    texts = read_columns(submission, [column], ids, id_column=id_column)[column]
    numbers = []
    for name, text in zip(ids, texts, strict=True):
        number = _parse(text)
        if number is None:
            raise InvalidSubmission(
                f"{submission.name}: {column} of {id_column} {name} is {_show(text)}; "
                "give a finite number"
            )
        numbers.append(number)
    return numbers


def read_classes(
    submission: Path,
    column: str,
    ids: Collection[str],
    classes: Sequence[str],
    *,
    id_column: str = ID,
) -> list[str]:
    """Read one column of class names, in the order of ``ids``; 3.0 stands for the class "3"."""
    texts = read_columns(submission, [column], ids, id_column=id_column)[column]
    known = _Names(classes)
    found = []
    for name, text in zip(ids, texts, strict=True):
        label = known.find(text)
        if label is None:
            raise InvalidSubmission(
                f"{submission.name}: {column} of {id_column} {name} is {_show(text)}; "
                f"give one of {_list(classes)}"
            )
        found.append(label)
    return found


def read_columns(
    submission: Path, columns: Sequence[str], ids: Collection[str], *, id_column: str = ID
) -> dict[str, list[str]]:
    """Read columns as text without surrounding spaces, each in the order of ``ids``.

    Every id has to be there exactly once, in whatever order, and no other.
    """
    known = _Names(ids)
    cells: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for line, (text, *values) in _records(submission, [id_column, *columns]):
        where = f"{submission.name}, line {line}: {id_column} {_show(text)}"
        name = known.find(text)
        if name is None:
            raise InvalidSubmission(f"{where} is none of the {len(ids)} that are asked for")
        if name in lines:
            raise InvalidSubmission(f"{where} is there twice, first in line {lines[name]}")
        lines[name] = line
        cells[name] = values
    if len(cells) < len(ids):
        first = next(name for name in ids if name not in cells)
        raise InvalidSubmission(
            f"{submission.name}: has {len(cells)} rows, but {len(ids)} are asked for; "
            f"the first that is missing is {id_column} {first}"
        )
    return {column: [cells[name][at] for name in ids] for at, column in enumerate(columns)}


def accuracy(predictions: Iterable[str], answers: Collection[str]) -> float:
    """Give the fraction of predictions that are the answers, in [0, 1]; higher is better."""
    pairs = zip(predictions, answers, strict=True)
    return sum(prediction == answer for prediction, answer in pairs) / len(answers)


def mean_absolute_error(predictions: Iterable[float], answers: Collection[float]) -> float:
    """Give the mean of |prediction - answer|; finite whatever finite numbers an agent hands in."""
    pairs = zip(predictions, answers, strict=True)
    return math.fsum(abs(prediction - answer) / len(answers) for prediction, answer in pairs)


def _records(submission: Path, wanted: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Give the line number and the wanted cells of each row, reading no further than asked."""
    name = submission.name
    try:
        with submission.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            places = _find_columns(name, header, wanted)
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise InvalidSubmission(
                        f"{name}, line {reader.line_num}: has {len(row)} fields, "
                        f"but the header has {len(header)}"
                    )
                yield reader.line_num, [row[place].strip() for place in places]
    except FileNotFoundError:
        raise InvalidSubmission(f"{name}: is missing") from None
    except OSError as error:
        raise InvalidSubmission(f"{name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidSubmission(
            f"{name}: is not UTF-8 text (byte 0x{byte:02x}); write it with encoding='utf-8'"
        ) from None
    except csv.Error as error:
        raise InvalidSubmission(f"{name}: is not a CSV file: {error}") from None


def _find_columns(name: str, header: list[str], wanted: Sequence[str]) -> list[int]:
    if not any(header):
        raise InvalidSubmission(
            f"{name}: is empty or its first line is; start it with the header {','.join(wanted)}"
        )
    for column in wanted:
        if (count := header.count(column)) != 1:
            problem = "is missing" if count == 0 else f"is there {count} times"
            raise InvalidSubmission(
                f"{name}: column {_show(column)} {problem}; the header names {_list(header)}, "
                f"but {','.join(wanted)} is asked for"
            )
    return [header.index(column) for column in wanted]


class _Names:
    """Known names, found by their text or, where both are numbers, by value: "3.0" is "3"."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        numeric = [(value, name) for name in names if (value := _parse(name)) is not None]
        by_value = dict(numeric)
        unambiguous = len(by_value) == len(numeric)
        self._by_value = by_value if unambiguous else {}

    def find(self, text: str) -> str | None:
        if text in self._names:
            return text
        value = _parse(text)
        # From 2**53 on, neighbouring whole numbers are one and the same float.
        return self._by_value.get(value) if value is not None and abs(value) < 2**53 else None


def _parse(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(_show(name) for name in names[:12])
    return f"{shown}, … ({len(names)} in all)" if len(names) > 12 else shown


def _show(text: str) -> str:
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown) + '"'
