"""Score a submission: the root of the mean squared error of the test molecules' affinities."""

import math
from pathlib import Path

from pytest_mlab.submission import read_answers, read_numbers


def score(submission: Path, private: Path) -> float:
    """Give the RMSE in units of log10 Ki; lower is better."""
    answers = read_answers(private / "labels.csv", "affinity")
    predictions = read_numbers(submission, "affinity", answers.keys())
    scale = math.sqrt(len(answers))
    # hypot, because squares of numbers that an agent hands in may be more than a float holds.
    pairs = zip(predictions, map(float, answers.values()), strict=True)
    return math.hypot(*((prediction - answer) / scale for prediction, answer in pairs))
