"""Reading a tabular submission: matched by id, and one clear message for whatever is wrong."""

import contextlib
import csv
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mlab import InvalidSubmission, TaskError
from pytest_mlab.submission import (
    accuracy,
    mean_absolute_error,
    read_answers,
    read_classes,
    read_columns,
    read_numbers,
)

IDS = ["7", "8", "9"]


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    return tmp_path / "submission.csv"


def write(file: Path, text: str | bytes) -> Path:
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


class TestRowsAreMatchedById:
    def test_in_any_order(self, submission: Path) -> None:
        write(submission, "id,price\n9,3\n7,1\n8,2\n")
        assert read_numbers(submission, "price", IDS) == [1.0, 2.0, 3.0]

    def test_columns_by_name_further_ones_passed_over(self, submission: Path) -> None:
        write(submission, ",note,price,id\n0,a,1,7\n1,b,2,8\n2,c,3,9\n")
        assert read_numbers(submission, "price", IDS) == [1.0, 2.0, 3.0]

    def test_several_columns(self, submission: Path) -> None:
        write(submission, "id,x,y\n8,c,d\n7,a,b\n")
        assert read_columns(submission, ["y", "x"], ["7", "8"]) == {
            "y": ["b", "d"],
            "x": ["a", "c"],
        }

    def test_ids_written_as_floats_are_the_same_numbers(self, submission: Path) -> None:
        """``numpy.savetxt`` writes them so unless told otherwise."""
        write(submission, "id,price\n7.0,1\n8.000000000000000000e+00,2\n9,3\n")
        assert read_numbers(submission, "price", IDS) == [1.0, 2.0, 3.0]

    def test_ids_equal_in_value_only_are_kept_apart(self, submission: Path) -> None:
        write(submission, "id,price\n007,1\n7,2\n")
        assert read_numbers(submission, "price", ["7", "007"]) == [2.0, 1.0]

    def test_ids_beyond_a_floats_precision_are_not_confused(self, submission: Path) -> None:
        write(submission, "id,price\n9007199254740992,1\n")
        with pytest.raises(InvalidSubmission, match="none of the 1 that are asked for"):
            read_numbers(submission, "price", ["9007199254740993"])

    def test_another_id_column(self, submission: Path) -> None:
        write(submission, "name,price\nb,2\na,1\n")
        assert read_numbers(submission, "price", ["a", "b"], id_column="name") == [1.0, 2.0]


class TestSpellingsThatAreTolerated:
    @pytest.mark.parametrize(
        "text",
        [
            "\ufeffid,price\n7,1\n8,2\n9,3\n",
            "id,price\r\n7,1\r\n8,2\r\n9,3\r\n",
            '"id","price"\n"7","1"\n"8","2"\n"9","3"\n',
            " id , price \n 7 , 1 \n 8,2\n9,3",
            "id,price\n7,1\n\n8,2\n9,3\n\n\n",
            '\ufeff"id","price"\r\n"7",1e0\r\n"8",+2\r\n"9",3.000',
        ],
        ids=["byte-order-mark", "crlf", "quoted", "spaces", "blank-lines", "all-of-it"],
    )
    def test_read_all_the_same(self, submission: Path, text: str) -> None:
        assert read_numbers(write(submission, text), "price", IDS) == [1.0, 2.0, 3.0]


class TestWhatIsWrongIsSaidInOneMessage:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "",
                "submission.csv: is empty or its first line is; start it with the header id,price",
            ),
            ("\n\n", "is empty or its first line is"),
            ("id,price\n", "has 0 rows, but 3 are asked for; the first that is missing is id 7"),
            ("id;price\n7;1\n", 'column "id" is missing; the header names "id;price"'),
            (
                "id,cost\n7,1\n8,2\n9,3\n",
                'column "price" is missing; the header names "id", "cost"',
            ),
            ("7,1\n8,2\n9,3\n", 'column "id" is missing; the header names "7", "1"'),
            ("id,price,price\n7,1,1\n", 'column "price" is there 2 times'),
            ("id,price\n7,1\n9,3\n", "has 2 rows, but 3 are asked for; .* is id 8"),
            ("id,price\n7,1\n8,2\n9,3\n10,4\n", 'line 5: id "10" is none of the 3 that are asked'),
            ("id,price\n7,1\n8,2\n7,3\n9,3\n", 'line 4: id "7" is there twice, first in line 2'),
            ("id,price\n7,1\n8,2\n7.0,3\n", 'line 4: id "7.0" is there twice, first in line 2'),
            ("id,price\n7,1\n8\n9,3\n", "line 3: has 1 fields, but the header has 2"),
            ("id,price\n7,1\n8,2,5\n9,3\n", "line 3: has 3 fields, but the header has 2"),
            ("id,price\n7,1\n8,\n9,3\n", 'price of id 8 is ""; give a finite number'),
            ("id,price\n7,1\n8,nan\n9,3\n", 'price of id 8 is "nan"; give a finite number'),
            ("id,price\n7,1\n8,NA\n9,3\n", 'price of id 8 is "NA"; give a finite number'),
            ("id,price\n7,1\n8,-inf\n9,3\n", 'price of id 8 is "-inf"; give a finite number'),
            ("id,price\n7,1\n8,1e999\n9,3\n", 'price of id 8 is "1e999"; give a finite number'),
            ('id,price\n7,1\n8,"2\n9,3\n', "is not a CSV file: unexpected end of data"),
            (f"id,price\n7,{'1' * 200_000}\n", "is not a CSV file: field larger than field limit"),
            ("id,price\n\x1b[2J,1\n", r'id "\\x1b\[2J" is none of the 3'),
            (f"id,price\n{'x' * 1000},1\n", r'id "x{37}\.\.\." is none of the 3'),
            ("id,price\n7,1\n8,2\n9,3\n".encode("utf-16"), r"is not UTF-8 text \(byte 0xff\)"),
            (b"id,price\n7,1\n8,\xe4\n9,3\n", r"is not UTF-8 text \(byte 0xe4\)"),
            (b"\x89PNG\r\n\x1a\n\0\0\0", r"is not UTF-8 text \(byte 0x89\)"),
            (b"PK\x03\x04\0\0\0\0", 'column "id" is missing'),
        ],
    )
    def test_about_the_contents(self, submission: Path, text: str | bytes, message: str) -> None:
        write(submission, text)
        with pytest.raises(InvalidSubmission, match=message) as caught:
            read_numbers(submission, "price", IDS)
        assert str(caught.value).startswith("submission.csv")
        assert "\n" not in str(caught.value)

    def test_that_it_is_missing(self, submission: Path) -> None:
        with pytest.raises(InvalidSubmission, match=r"^submission\.csv: is missing$"):
            read_numbers(submission, "price", IDS)

    def test_that_it_is_a_directory(self, submission: Path) -> None:
        submission.mkdir()
        with pytest.raises(InvalidSubmission, match="cannot be read: Is a directory"):
            read_numbers(submission, "price", IDS)

    def test_without_reading_on_after_the_first_superfluous_row(self, submission: Path) -> None:
        """Bytes after it that are no text would be complained about if they were read."""
        rows = "".join(f"{number},1\n" for number in range(100_000))
        write(submission, f"id,price\n7,1\n8,2\n9,3\n{rows}".encode() + b"\xff")
        with pytest.raises(InvalidSubmission, match='line 5: id "0" is none of the 3'):
            read_numbers(submission, "price", IDS)


class TestClasses:
    def test_by_name(self, submission: Path) -> None:
        write(submission, "id,animal\n7,cat\n8, dog \n9,cat\n")
        assert read_classes(submission, "animal", IDS, ["cat", "dog"]) == ["cat", "dog", "cat"]

    def test_numbers_by_value(self, submission: Path) -> None:
        write(submission, "id,digit\n7,3\n8,3.0\n9,3e0\n")
        assert read_classes(submission, "digit", IDS, ["2", "3"]) == ["3", "3", "3"]

    def test_others_are_refused(self, submission: Path) -> None:
        write(submission, "id,digit\n7,3\n8,2.5\n9,3\n")
        with pytest.raises(
            InvalidSubmission, match=r'digit of id 8 is "2\.5"; give one of "2", "3"$'
        ):
            read_classes(submission, "digit", IDS, ["2", "3"])

    def test_many_are_not_all_listed(self, submission: Path) -> None:
        write(submission, "id,digit\n7,x\n8,1\n9,1\n")
        with pytest.raises(InvalidSubmission, match=r'"11", … \(100 in all\)$'):
            read_classes(submission, "digit", IDS, [str(number) for number in range(100)])


class TestAnswers:
    def test_by_id_in_the_files_order(self, tmp_path: Path) -> None:
        file = write(tmp_path / "labels.csv", "id,price\n9,3\n7,1\n")
        assert list(read_answers(file, "price").items()) == [("9", "3"), ("7", "1")]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("id,cost\n7,1\n", "has no column 'price'"),
            ("id,price\n", "has 0 rows and 0 ids"),
            ("id,price\n7,1\n7,2\n", "has 2 rows and 1 ids"),
        ],
    )
    def test_wrong_ones_are_the_task_authors_fault(
        self, tmp_path: Path, text: str, message: str
    ) -> None:
        with pytest.raises(TaskError, match=message):
            read_answers(write(tmp_path / "labels.csv", text), "price")


finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)


@given(values=st.dictionaries(names, finite, min_size=1), data=st.data())
def test_what_csv_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, float], data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("submission") / "submission.csv"
    rows = data.draw(st.permutations(list(values.items())))
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("id", "price"), *rows])
    assert read_numbers(file, "price", values.keys()) == list(values.values())


@settings(max_examples=300)
@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_whatever_the_bytes_only_the_agent_is_blamed(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.mktemp("submission") / "submission.csv"
    file.write_bytes(b"id,price\n7," + content)
    with contextlib.suppress(InvalidSubmission):
        numbers = read_numbers(file, "price", ["7"])
        assert all(map(math.isfinite, numbers))


@given(pairs=st.lists(st.tuples(finite, st.floats(-1e9, 1e9)), min_size=1))
def test_the_mean_absolute_error_of_finite_numbers_is_finite(
    pairs: list[tuple[float, float]],
) -> None:
    predictions, answers = zip(*pairs, strict=True)
    error = mean_absolute_error(predictions, answers)
    assert math.isfinite(error)
    assert error >= 0
    assert mean_absolute_error(answers, answers) == 0


def test_the_mean_absolute_error_is_the_mean_of_the_absolute_errors() -> None:
    assert mean_absolute_error([1.0, 5.0, 2.0], [2.0, 2.0, 2.0]) == pytest.approx(4 / 3)


def test_the_accuracy_is_the_fraction_of_predictions_that_are_right() -> None:
    assert accuracy(["a", "b", "c"], ["a", "b", "b"]) == pytest.approx(2 / 3)
    assert accuracy(["1", "0"], ["0", "1"]) == 0
    assert accuracy(["1", "0"], ["1", "0"]) == 1


def test_answers_without_a_prediction_are_the_scorers_mistake() -> None:
    with pytest.raises(ValueError, match="longer"):
        accuracy(["a"], ["a", "b"])
