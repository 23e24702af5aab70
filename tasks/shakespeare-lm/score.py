"""Score a submission: the perplexity of its n-gram model on plays that the agent has not seen.

The submission holds numbers and no code. Whatever they are, what is computed from them here is a
probability distribution over the vocabulary, given the words before: so no model can gain by
giving more than there is to give.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_mlab import InvalidSubmission
from pytest_mlab.submission import read_answers

LONGEST = 4
SLACK = 1e-4  # by how much rounding may let a context's masses exceed 1
END_OF_LINE = 1  # what stands before the first word

Array = npt.NDArray[Any]
Model = list[tuple[Array, Array]]


def score(submission: Path, private: Path) -> float:
    """Give the perplexity per word, lines' ends included, at least 1; lower is better."""
    words = (private / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    numbers = {word: number for number, word in enumerate(words)}
    answers = read_answers(private / "labels.csv", "word")
    text = np.array([numbers[word] for word in answers.values()])
    probabilities = predict(read_model(submission, len(words)), text, len(words))
    if probabilities.min() <= 0:
        raise InvalidSubmission(
            f"{submission.name}: gives no probability to something that the hidden plays say; "
            "let the masses after each context sum to less than 1"
        )
    return float(np.exp(-np.log(probabilities).mean()))


def predict(model: Model, text: Array, size: int) -> Array:
    """Give the probability of each word of a text, given at most three words before it."""
    probabilities = np.full(len(text), 1 / size)
    for length, (ngrams, masses) in enumerate(model, start=1):
        padded = np.concatenate([np.full(length - 1, END_OF_LINE), text])
        rows = np.lib.stride_tricks.sliding_window_view(padded, length)
        contexts, context = np.unique(encode(ngrams[:, :-1], size), return_inverse=True)
        total = np.bincount(context, masses)
        share = masses / np.maximum(total, 1)[context]
        left = np.maximum(1 - total, 0)
        at_context, has_context = find(encode(rows[:, :-1], size), contexts)
        at_row, has_row = find(encode(rows, size), encode(ngrams, size))
        probabilities *= np.where(has_context, left[at_context], 1)
        probabilities += np.where(has_row, share[at_row], 0)
    return probabilities


def encode(rows: Array, size: int) -> Array:
    """Give one whole number for each row of word numbers; ``size`` ** 4 is below 2 ** 63."""
    return np.asarray(rows.astype(np.int64) @ size ** np.arange(rows.shape[1])[::-1])


def find(keys: Array, table: Array) -> tuple[Array, Array]:
    """Give the place of each key in a table, and whether it is there."""
    order = np.argsort(table)
    place = order[np.searchsorted(table, keys, sorter=order).clip(max=len(table) - 1)]
    return place, table[place] == keys


def read_model(submission: Path, size: int) -> Model:
    """Read ngrams.1 and masses.1, ngrams.2 and so on; raises `InvalidSubmission`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(submission.read_bytes())
    except (SafetensorError, KeyError) as error:  # KeyError: a type that NumPy does not have
        raise InvalidSubmission(f"{submission.name}: cannot be read: {error}") from None
    model: Model = []
    for length in count(1):
        if f"ngrams.{length}" not in tensors or length > LONGEST:
            break
        ngrams = tensors.pop(f"ngrams.{length}")
        masses = tensors.pop(f"masses.{length}", np.empty(0))
        if problem := next(list_faults(ngrams, masses, length, size), None):
            raise InvalidSubmission(f"{submission.name}: ngrams.{length}: {problem}")
        model.append((ngrams.astype(np.int64), masses.astype(np.float64)))
    if tensors or not model:
        raise InvalidSubmission(
            f"{submission.name}: give ngrams.1 and masses.1, then at most ngrams.{LONGEST} and "
            f"masses.{LONGEST}, none left out; left over: {', '.join(sorted(tensors)) or 'nothing'}"
        )
    return model


def list_faults(ngrams: Array, masses: Array, length: int, size: int) -> Iterator[str]:
    """Say what is wrong with one length's n-grams and masses; only the first may be asked for."""
    if ngrams.ndim != 2 or ngrams.shape[1] != length or not len(ngrams):
        yield f"has the shape {ngrams.shape}; give rows of {length}"
    if masses.shape != ngrams.shape[:1]:
        yield f"has {len(ngrams)} rows, but masses.{length} has the shape {masses.shape}"
    if ngrams.dtype.kind != "i" or masses.dtype.kind != "f":
        yield f"is {ngrams.dtype} and masses.{length} {masses.dtype}; give int32 and float32"
    if ngrams.min() < 0 or ngrams.max() >= size:
        yield f"has numbers outside of the vocabulary, 0 to {size - 1}"
    if not np.isfinite(masses).all() or masses.min() < 0:
        yield f"masses.{length} has values that are negative or not finite"
    if len(np.unique(encode(ngrams, size))) < len(ngrams):
        yield "has the same row twice"
    _, context = np.unique(encode(ngrams[:, :-1], size), return_inverse=True)
    if (most := np.bincount(context, masses).max()) > 1 + SLACK:
        yield f"masses.{length} sums to {most:.6g} in some context; at most 1 can be given away"
