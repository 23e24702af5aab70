"""Score a submission: the fraction of test papers whose subject is right."""

from pathlib import Path

from pytest_mlab.submission import accuracy, read_answers, read_classes

SUBJECTS = [str(subject) for subject in range(7)]


def score(submission: Path, private: Path) -> float:
    """Give the accuracy, in [0, 1]; higher is better."""
    answers = read_answers(private / "labels.csv", "subject")
    predictions = read_classes(submission, "subject", answers.keys(), SUBJECTS)
    return accuracy(predictions, answers.values())
