"""Train a language model on Shakespeare's plays: how often a word follows another."""

from evaluation import count_ngrams, measure_perplexity, read_plays, sum_contexts, write_model

LENGTH = 2
WEIGHT = 0.5


def train(plays):
    """Give a model that mixes the relative frequencies of n-grams, the longest first."""
    model = []
    for length in range(1, LENGTH + 1):
        ngrams, counts = count_ngrams(plays, length)
        model.append((ngrams, WEIGHT * counts / sum_contexts(ngrams, counts)))
    return model


plays = read_plays()

# The plays are in no particular order: every fourth one is held out to judge the model by.
held_out = plays[::4]
model = train([play for number, play in enumerate(plays) if number % 4])
print(f"validation perplexity: {measure_perplexity(model, held_out):.3f}")

# What is handed in is the same kind of model, trained on all plays.
write_model(train(plays), "model.safetensors")
