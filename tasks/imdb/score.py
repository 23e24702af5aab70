"""Score a submission: the fraction of reviews to whose side more probability is given."""

from pathlib import Path

from pytest_mlab import InvalidSubmission
from pytest_mlab.submission import accuracy, read_answers, read_numbers

SIDES = ("negative", "positive")


def score(submission: Path, private: Path) -> float:
    """Give the accuracy, in [0, 1]; higher is better. A review is negative unless it is likelier
    positive: equal probabilities stand for "negative".
    """  # noqa: D205
    answers = read_answers(private / "labels.csv", "label")
    negative, positive = (read_numbers(submission, side, answers.keys()) for side in SIDES)
    for name, *pair in zip(answers, negative, positive, strict=True):
        check_probabilities(submission.name, name, pair)
    likelier = [str(int(b > a)) for a, b in zip(negative, positive, strict=True)]
    return accuracy(likelier, answers.values())


def check_probabilities(file: str, name: str, pair: list[float]) -> None:
    """Raise `InvalidSubmission` for what are no probabilities."""
    if not all(0 <= probability <= 1 for probability in pair) or abs(sum(pair) - 1) > 0.01:
        raise InvalidSubmission(
            f"{file}: negative and positive of id {name} are {pair[0]:g} and {pair[1]:g}; "
            "give two probabilities that sum to 1"
        )
