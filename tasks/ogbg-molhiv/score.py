"""Score a submission: how well the test molecules' numbers tell the active ones from the others."""

from itertools import groupby
from pathlib import Path

from pytest_mlab.submission import read_answers, read_numbers


def score(submission: Path, private: Path) -> float:
    """Give the area under the ROC curve, in [0, 1]; higher is better.

    It is the probability that an active molecule has a higher number than an inactive one, a tie
    counting one half.
    """
    answers = read_answers(private / "labels.csv", "active")
    numbers = read_numbers(submission, "active", answers.keys())
    ranked = sorted(zip(numbers, (answer == "1" for answer in answers.values()), strict=True))
    total = sum(is_active for _, is_active in ranked)
    below = area = 0.0
    for _, tied in groupby(ranked, key=lambda pair: pair[0]):
        group = [is_active for _, is_active in tied]
        active, inactive = sum(group), len(group) - sum(group)
        area += active * (below + inactive / 2)
        below += inactive
    return area / (total * (len(ranked) - total))
