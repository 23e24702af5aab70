"""Score a submission: how far predicted and labelled contrail pixels of all records coincide."""

import csv
from pathlib import Path

from pytest_mlab import InvalidSubmission, TaskError
from pytest_mlab.submission import read_answers, read_columns

ID, COLUMN = "record_id", "encoded_pixels"

# The runs of one mask can be longer than what the csv module takes by default.
csv.field_size_limit(1 << 20)


def score(submission: Path, private: Path) -> float:
    """Give the Dice coefficient over the pixels of all records, in [0, 1]; higher is better."""
    answers = read_answers(private / "labels.csv", COLUMN, id_column=ID)
    sizes = read_answers(private / "labels.csv", "pixels", id_column=ID)
    given = read_columns(submission, [COLUMN], answers.keys(), id_column=ID)[COLUMN]
    common = total = labelled = 0
    for (record, answer), text in zip(answers.items(), given, strict=True):
        truth = decode(answer, int(sizes[record]))
        try:
            mask = decode(text, int(sizes[record]))
        except ValueError as error:
            raise InvalidSubmission(f"{submission.name}: {ID} {record}: {error}") from None
        common += (truth & mask).bit_count()
        total += truth.bit_count() + mask.bit_count()
        labelled += truth.bit_count()
    if not labelled:
        raise TaskError(f"{private / 'labels.csv'}: no record has a contrail")
    return 2 * common / total


def decode(text: str, pixels: int) -> int:
    """Give a mask as a number with a bit for each pixel; raises `ValueError` saying what is wrong.

    The text is "start length start length …", pixels being counted from 1; "-" is an empty mask.
    """
    if text == "-":
        return 0
    words = text.split()
    if not words or len(words) % 2 or not all(word.isascii() and word.isdigit() for word in words):
        raise ValueError('is not pairs of whole numbers "start length", nor "-" for none')
    if max(map(len, words)) > len(str(pixels)):
        raise ValueError(f"has a number beyond the {pixels} pixels of the image")
    numbers = list(map(int, words))
    mask, free = 0, 1
    for start, length in zip(numbers[::2], numbers[1::2], strict=True):
        if start < free:
            raise ValueError(f"the run at {start} is not behind the one before it")
        if length < 1 or start + length - 1 > pixels:
            raise ValueError(f"the run at {start} of length {length} is not in 1 to {pixels}")
        mask |= ((1 << length) - 1) << start
        free = start + length
    return mask
