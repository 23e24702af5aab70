"""Score a submission: how far six marks of each essay are off, by the competition's MCRMSE."""

import math
from pathlib import Path

from pytest_mlab.submission import read_answers, read_numbers

MEASURES = ("cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions")


def score(submission: Path, private: Path) -> float:
    """Give the mean of six root mean squared errors, in marks, at least 0; lower is better."""
    errors = [measure_error(submission, private, measure) for measure in MEASURES]
    return math.fsum(error / len(errors) for error in errors)


def measure_error(submission: Path, private: Path, measure: str) -> float:
    """Give one column's root mean squared error; finite whatever finite numbers are handed in."""
    answers = read_answers(private / "labels.csv", measure, id_column="text_id")
    predictions = read_numbers(submission, measure, answers.keys(), id_column="text_id")
    share = 1 / math.sqrt(len(answers))
    pairs = zip(predictions, answers.values(), strict=True)
    return math.hypot(*(share * prediction - share * float(answer) for prediction, answer in pairs))
