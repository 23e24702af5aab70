"""Score a submission: how far the predicted ratings are off, in proportion."""

import math
from pathlib import Path

from pytest_mlab import InvalidSubmission
from pytest_mlab.submission import read_answers, read_numbers

ID = "prediction_id"


def score(submission: Path, private: Path) -> float:
    """Give the SMAPE of ratings plus one, between 0 and 200; lower is better."""
    answers = read_answers(private / "labels.csv", "rating", id_column=ID)
    predictions = read_numbers(submission, "rating", answers.keys(), id_column=ID)
    for name, prediction in zip(answers, predictions, strict=True):
        if prediction < 0:
            raise InvalidSubmission(
                f"{submission.name}: rating of {ID} {name} is {prediction:g}; no rating is below 0"
            )
    errors = [
        abs(prediction - float(answer)) / (prediction / 2 + float(answer) / 2 + 1)
        for prediction, answer in zip(predictions, answers.values(), strict=True)
        if answer  # else no such visit took place
    ]
    return 100 * math.fsum(errors) / len(errors)
