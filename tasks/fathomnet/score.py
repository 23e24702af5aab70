"""Score a submission: how well categories are ranked, and images of unseen animals told apart."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from pytest_mlab import InvalidSubmission, TaskError
from pytest_mlab.submission import read_answers, read_columns, read_numbers

CATEGORIES = 290
RANKED = 20


def score(submission: Path, private: Path) -> float:
    """Give the mean of MAP@20 and 2 AUC - 1, in [-0.5, 1]; higher is better."""
    shown = read_answers(private / "labels.csv", "categories")
    outside = read_answers(private / "labels.csv", "osd")
    texts = read_columns(submission, ["categories"], shown.keys())["categories"]
    confidence = read_numbers(submission, "osd", shown.keys())
    precision = fmean(
        average_precision({int(word) for word in answer.split()}, parse(submission, name, text))
        for (name, answer), text in zip(shown.items(), texts, strict=True)
    )
    area = area_under_curve([osd == "1" for osd in outside.values()], confidence)
    return (precision + 2 * area - 1) / 2


def parse(submission: Path, name: str, text: str) -> list[int]:
    """Read an image's ranking; what comes after the first twenty is passed over."""
    words = text.split()[:RANKED]
    for word in words:
        # At most three digits: none of them a number that takes long to read.
        digits = word.isascii() and word.isdigit() and len(word) <= 3
        if not (digits and 1 <= int(word) <= CATEGORIES):
            raise InvalidSubmission(
                f"{submission.name}: categories of id {name} has {word[:20]!a}; give whole "
                f"numbers from 1 to {CATEGORIES} with spaces between them"
            )
    return [int(word) for word in words]


def average_precision(relevant: set[int], ranking: Sequence[int]) -> float:
    """Give the mean, over the relevant categories, of the precision at the rank of each.

    A category counts where it first stands; one that comes again takes up a rank in vain.
    """
    hits, total = 0, 0.0
    for rank, category in enumerate(ranking, start=1):
        if category in relevant and category not in ranking[: rank - 1]:
            hits += 1
            total += hits / rank
    return total / min(len(relevant), RANKED)


def area_under_curve(outside: Sequence[bool], confidence: Sequence[float]) -> float:
    """Give the probability that an image outside is given more confidence than one inside.

    Equal confidence counts half.
    """
    order = sorted(range(len(confidence)), key=confidence.__getitem__)
    wins = inside = 0.0
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and confidence[order[end]] == confidence[order[at]]:
            end += 1
        positive = sum(outside[index] for index in order[at:end])
        negative = end - at - positive
        wins += positive * (inside + negative / 2)
        inside += negative
        at = end
    if inside in {0, len(order)}:
        raise TaskError("labels.csv: osd is the same for all images")
    return wins / (inside * (len(order) - inside))
