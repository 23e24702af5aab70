"""feedback: six marks an essay, on essays made up here in the competition's format."""

import csv
import hashlib
import io
import math
import random
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import root_mean_squared_error

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, read, write

COMPETITION = "feedback-prize-english-language-learning"
MEASURES = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]
HEADER = ["text_id", "full_text", *MEASURES]
PLAIN, RICH, WRONG = (
    words.split()
    for words in (
        "people think that school is good when students work at home with their friends",
        "moreover, collaboration deliberately nurtures independent curiosity; consequently",
        "becuase thier shool peple tink wen studens wrok hoem frends",
    )
)


def invent_essays(number: int) -> list[list[str]]:
    """Invent essays: who is able writes more, uses rarer words and makes fewer mistakes."""
    draw = random.Random(0)
    essays = []
    for _ in range(number):
        ability = draw.gauss(0, 1)
        sentences = []
        for _ in range(draw.randint(5, 8) + round(ability)):
            words = [
                draw.choice(
                    WRONG
                    if draw.random() < 0.25 / (1 + math.exp(1.5 * ability))
                    else RICH
                    if draw.random() < 0.25 / (1 + math.exp(-1.5 * ability))
                    else PLAIN
                )
                for _ in range(12)
            ]
            sentences.append(" ".join(words).capitalize() + ".")
        marks = [3 + 0.6 * ability + draw.gauss(0, 0.3) for _ in MEASURES]
        text_id = hashlib.sha256(str(draw.random()).encode()).hexdigest()[:12].upper()
        rounded = (f"{min(max(round(2 * mark) / 2, 1), 5):.1f}" for mark in marks)
        essays.append([text_id, '\n\n"Yes," she said.\n'.join(sentences), *rounded])
    return essays


def write_archive(raw: Path, essays: Sequence[Sequence[str]]) -> None:
    """Write the competition's archive as Kaggle gives it: its own test set has three essays."""
    averages = [[*essay[:1], *["3.0"] * len(MEASURES)] for essay in essays[:3]]
    with zipfile.ZipFile(raw / f"{COMPETITION}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, header, rows in (
            ("sample_submission.csv", ["text_id", *MEASURES], averages),
            ("test.csv", HEADER[:2], [essay[:2] for essay in essays[:3]]),
            ("train.csv", HEADER, essays),
        ):
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerows([header, *rows])
            archive.writestr(name, text.getvalue())


class TestFeedback(BundledTable):
    name = "feedback"
    target = "cohesion"
    id_column = "text_id"

    def write_raw(self, raw: Path) -> None:
        write_archive(raw, invent_essays(600))

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        asked = {row["full_text"] for row in read(data.public / "test.csv")}
        essays = invent_essays(600)
        for essay in essays:
            if essay[1] in asked:
                essay[2:] = [f"{6 - float(mark):.1f}" for mark in essay[2:]]
        write_archive(raw, essays)

    def inputs(self, row: Mapping[str, str]) -> tuple[str, ...]:
        return (row["full_text"],)

    def test_the_split_keeps_essays_and_marks_together_under_ids_of_its_own(
        self, data: PreparedData
    ) -> None:
        source = {essay[1]: essay for essay in invent_essays(600)}
        train, test = read(data.public / "train.csv"), read(data.public / "test.csv")
        labels = read(data.private / "labels.csv")
        marked = [*train, *({**text, **marks} for text, marks in zip(test, labels, strict=True))]
        assert (len(train), len(test)) == (450, 150)
        for row in marked:
            essay = source.pop(row["full_text"])
            assert [row[measure] for measure in MEASURES] == essay[2:]
            assert row["text_id"] != essay[0]
        assert not source
        assert list(test[0]) == ["text_id", "full_text"]


def measure(
    folder: Path, marks: npt.NDArray[np.float64], rows: Sequence[Sequence[float | str]]
) -> float:
    """Score rows against marks of the ids 0, 1, 2 and so on."""
    header = ["text_id", *MEASURES]
    write(folder / "labels.csv", header, [[name, *row] for name, row in enumerate(marks)])
    return load_scorer("feedback")(write(folder / "submission.csv", header, rows), folder)


class TestMetric:
    def test_it_is_the_mean_of_scikit_learns_error_of_each_column(self, tmp_path: Path) -> None:
        chance = np.random.default_rng(0)
        marks, given = chance.integers(2, 11, (40, 6)) / 2, chance.uniform(1, 5, (40, 6))
        columns = [root_mean_squared_error(marks[:, at], given[:, at]) for at in range(6)]
        rows = [[float(name), *row] for name, row in enumerate(given)]
        assert measure(tmp_path, marks, rows) == pytest.approx(np.mean(columns))
        assert measure(tmp_path, marks, rows[::-1]) == pytest.approx(np.mean(columns))

    def test_cases_worked_out_by_hand(self, tmp_path: Path) -> None:
        marks = np.full((2, 6), 3.0)
        right, off = [0, *[3] * 6], [1, *[3] * 5, 5]
        assert measure(tmp_path, marks, [right, [1, *[3] * 6]]) == 0
        # One column has the errors 0 and 2, the others none.
        assert measure(tmp_path, marks, [right, off]) == pytest.approx(math.sqrt(4 / 2) / 6)
        worse = [1, *[3] * 5, 5.5]
        assert measure(tmp_path, marks, [right, worse]) > measure(tmp_path, marks, [right, off])

    def test_every_number_that_can_be_written_has_a_finite_score(self, tmp_path: Path) -> None:
        huge = [[0, *[1.7e308] * 6], [1, *[-1.7e308] * 6]]
        assert measure(tmp_path, np.full((2, 6), 3.0), huge) == pytest.approx(1.7e308)

    def test_a_mark_that_is_missing_is_invalid(self, tmp_path: Path) -> None:
        rows: list[list[float | str]] = [[0, *[3] * 6], [1, *[3] * 5, ""]]
        with pytest.raises(InvalidSubmission, match='conventions of text_id 1 is ""'):
            measure(tmp_path, np.full((2, 6), 3.0), rows)
