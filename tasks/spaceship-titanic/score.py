"""Score a submission: the fraction of test passengers whose answer is right."""

from pathlib import Path

from pytest_mlab.submission import accuracy, read_answers, read_classes


def score(submission: Path, private: Path) -> float:
    """Give the accuracy, in [0, 1]; higher is better."""
    answers = read_answers(private / "labels.csv", "Transported", id_column="PassengerId")
    predictions = read_classes(
        submission, "Transported", answers.keys(), ["False", "True"], id_column="PassengerId"
    )
    return accuracy(predictions, answers.values())
