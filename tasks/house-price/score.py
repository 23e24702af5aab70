"""Score a submission: how far the predicted prices are off, on average."""

from pathlib import Path

from pytest_mlab.submission import mean_absolute_error, read_answers, read_numbers


def score(submission: Path, private: Path) -> float:
    """Give the mean absolute error in dollars; lower is better."""
    answers = read_answers(private / "labels.csv", "price")
    predictions = read_numbers(submission, "price", answers.keys())
    return mean_absolute_error(predictions, [float(answer) for answer in answers.values()])
