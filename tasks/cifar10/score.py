"""Score a submission: the fraction of test images whose likeliest class is right."""

from pathlib import Path

from pytest_mlab.submission import accuracy, read_answers, read_numbers

CLASSES = [str(number) for number in range(10)]


def score(submission: Path, private: Path) -> float:
    """Give the accuracy, in [0, 1]; higher is better.

    Where several classes are equally likely, the first counts.
    """
    answers = read_answers(private / "labels.csv", "label")
    columns = [read_numbers(submission, name, answers.keys()) for name in CLASSES]
    likeliest = [CLASSES[row.index(max(row))] for row in zip(*columns, strict=True)]
    return accuracy(likeliest, answers.values())
