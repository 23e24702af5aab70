"""Read the plays, and write and measure a language model as it is measured at the end.

A model is a list of pairs (ngrams, masses), for words without context first, then for those after
one word, then after two, and at most after three. A row of ``ngrams`` is a context and the word
after it, as numbers in the vocabulary; the same row of ``masses`` is the probability mass that the
word gets in this context. What a context leaves of 1 is shared out as the context that is one word
shorter says, and in the end evenly.
"""

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

END_OF_LINE = 1
WORDS = Path("data/vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]


def read_plays():
    """Give the training plays, each an array of word numbers."""
    numbers = {word: number for number, word in enumerate(WORDS)}
    text = Path("data/train.txt").read_text(encoding="utf-8")
    plays = (play.strip("\n") + "\n" for play in text.split("\n\n"))
    return [
        np.array([numbers[word] for word in play.replace("\n", " <eol> ").split()])
        for play in plays
    ]


def list_ngrams(play, length):
    """Give each word of a play with the length - 1 words before it, one a row."""
    padded = np.concatenate([np.full(length - 1, END_OF_LINE), play])
    return np.lib.stride_tricks.sliding_window_view(padded, length)


def number_rows(ngrams):
    """Give one number for each row, different for different rows."""
    return ngrams.astype(np.int64) @ len(WORDS) ** np.arange(ngrams.shape[1] - 1, -1, -1)


def count_ngrams(plays, length):
    """Give the different n-grams of some plays, one a row, and how often each is there."""
    return count_rows(np.concatenate([list_ngrams(play, length) for play in plays]))


def count_rows(ngrams):
    """Give the different rows, and how often each is there."""
    _, first, counts = np.unique(number_rows(ngrams), return_index=True, return_counts=True)
    return ngrams[first], counts


def sum_contexts(ngrams, values):
    """Give, for each n-gram, the sum of the values of all n-grams with the same context."""
    _, context = np.unique(number_rows(ngrams[:, :-1]), return_inverse=True)
    return np.bincount(context, values)[context]


def measure_perplexity(model, plays):
    """Give a model's perplexity on some plays; infinite if something has no probability."""
    surprise = words = 0
    for play in plays:
        probability = np.full(len(play), 1 / len(WORDS))
        for ngrams, masses in model:
            rows = list_ngrams(play, ngrams.shape[1])
            contexts, first = np.unique(number_rows(ngrams[:, :-1]), return_index=True)
            left = 1 - sum_contexts(ngrams, masses)[first]
            mass = look_up(number_rows(rows), number_rows(ngrams), masses, 0.0)
            probability = mass + probability * look_up(
                number_rows(rows[:, :-1]), contexts, left, 1.0
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise -= np.log(probability).sum()
        words += len(play)
    return float(np.exp(surprise / words))


def look_up(keys, table, values, default):
    """Give the value of each key, the default for those that are not in the table."""
    order = np.argsort(table)
    place = order[np.searchsorted(table, keys, sorter=order).clip(max=len(table) - 1)]
    return np.where(table[place] == keys, values[place], default)


def write_model(model, file):
    """Write a model as the scorer reads it."""
    tensors = {}
    for length, (ngrams, masses) in enumerate(model, start=1):
        tensors[f"ngrams.{length}"] = np.ascontiguousarray(ngrams, dtype=np.int32)
        tensors[f"masses.{length}"] = np.ascontiguousarray(masses, dtype=np.float32)
    save_file(tensors, file)
