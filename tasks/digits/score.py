"""Score a submission: the fraction of test images whose digit is right."""

from pathlib import Path

from pytest_mlab.submission import accuracy, read_answers, read_classes

DIGITS = [str(digit) for digit in range(10)]


def score(submission: Path, private: Path) -> float:
    """Give the accuracy, in [0, 1]; higher is better."""
    answers = read_answers(private / "labels.csv", "digit")
    predictions = read_classes(submission, "digit", answers.keys(), DIGITS)
    return accuracy(predictions, answers.values())
