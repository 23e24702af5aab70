"""Score a submission: the time its language model takes per token, beside the starter's."""

import os
from pathlib import Path

import numpy as np

from pytest_mlab.arrays import Array
from pytest_mlab.timing import compare_speed

VOCABULARY = 49_152
SPECIAL = 17  # the vocabulary's first tokens, which stand for no text
PROMPT_TOKENS = 16
NEW_TOKENS = 6


def score(submission: Path, private: Path) -> tuple[float, float]:
    """Give the seconds per token of the submission and of the starter; lower is better."""
    # Threads that wait for one another by spinning measure what else the machine has to do.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    theirs, ours = compare_speed(
        submission,
        private / "generation.py",
        function="generate",
        draw=draw_prompt,
        rounds=11,
        rtol=0,
        atol=0,
    )
    return theirs / NEW_TOKENS, ours / NEW_TOKENS


def draw_prompt(random: np.random.Generator) -> list[Array]:
    """Draw the tokens of a prompt that nobody can have seen."""
    return [random.integers(SPECIAL, VOCABULARY, size=PROMPT_TOKENS)]
