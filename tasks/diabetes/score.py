"""Score a submission: how far the predicted progression is off, on average."""

from pathlib import Path

from pytest_mlab.submission import mean_absolute_error, read_answers, read_numbers


def score(submission: Path, private: Path) -> float:
    """Give the mean absolute error in points of the progression scale; lower is better."""
    answers = read_answers(private / "labels.csv", "progression")
    predictions = read_numbers(submission, "progression", answers.keys())
    return mean_absolute_error(predictions, [float(answer) for answer in answers.values()])
