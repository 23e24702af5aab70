"""Time the language model, check what it says, and hand its source in."""

import os
import shutil
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in scoring; set before NumPy is loaded

import numpy as np
from generation import NEW_TOKENS, generate

# What the unchanged model says after two prompts.
KNOWN = [
    (
        [
            46444,
            30731,
            33634,
            44101,
            28431,
            38130,
            40978,
            11082,
            2745,
            14765,
            14023,
            42939,
            44858,
            275,
            24574,
            40368,
        ],
        [216, 34, 32, 33, 41, 216],
    ),
    (
        [
            6475,
            39181,
            5868,
            23008,
            40134,
            14906,
            16801,
            13697,
            35368,
            12540,
            48683,
            21885,
            23510,
            24807,
            28640,
            27213,
        ],
        [30, 824, 31, 264, 31, 264],
    ),
]

seconds = []
for prompt, expected in KNOWN:
    start = time.perf_counter()
    tokens = generate(np.array(prompt))
    seconds.append(time.perf_counter() - start)
    np.testing.assert_array_equal(tokens, expected)
print(f"validation seconds per token: {np.mean(seconds) / NEW_TOKENS:.4f}")

shutil.copyfile("generation.py", "submission.py")
