"""Train a language model on Shakespeare's plays: modified Kneser-Ney smoothing of trigrams."""

import numpy as np
from evaluation import (
    count_ngrams,
    count_rows,
    measure_perplexity,
    read_plays,
    sum_contexts,
    write_model,
)

LENGTH = 3


def train(plays):
    """Give a model that takes a discount off every count, for the shorter contexts to share out.

    Shorter n-grams count once for each different word before them (Chen and Goodman 1999).
    """
    model = []
    for length in range(1, LENGTH + 1):
        ngrams, counts = count_ngrams(plays, length)
        if length < LENGTH:
            longer, _ = count_ngrams(plays, length + 1)
            ngrams, counts = count_rows(longer[:, 1:])
        masses = (counts - discount(counts)) / sum_contexts(ngrams, counts)
        model.append((ngrams, masses))
    return model


def discount(counts):
    """Give what to take off counts of 1, 2, and 3 or more, by how many there are of each."""
    ones, twos, threes, fours = (np.sum(counts == times) for times in (1, 2, 3, 4))
    share = ones / (ones + 2 * twos)
    discounts = np.array(
        [1 - 2 * share * twos / ones, 2 - 3 * share * threes / twos, 3 - 4 * share * fours / threes]
    )
    return discounts[np.minimum(counts, 3) - 1]


plays = read_plays()

held_out = plays[::4]
model = train([play for number, play in enumerate(plays) if number % 4])
print(f"validation perplexity: {measure_perplexity(model, held_out):.3f}")

write_model(train(plays), "model.safetensors")
