"""Score a submission: the fraction of test passengers whose fate is right."""

from pathlib import Path

from pytest_mlab.submission import accuracy, read_answers, read_classes


def score(submission: Path, private: Path) -> float:
    """Give the accuracy, in [0, 1]; higher is better."""
    answers = read_answers(private / "labels.csv", "survived")
    predictions = read_classes(submission, "survived", answers.keys(), ["0", "1"])
    return accuracy(predictions, answers.values())
