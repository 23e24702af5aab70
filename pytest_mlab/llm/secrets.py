"""Keys stay out of what is written down or said."""

import os
import re

_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$")
_SHORTEST = 8  # a shorter value is a flag or a placeholder, and may be an ordinary word


def scrub(text: str) -> str:
    """Put the variable's name in place of every secret that the environment holds.

    What is secret is told by how the variable's name ends (KEY, TOKEN, SECRET, PASSWORD,
    CREDENTIALS), so that keys this project does not know of are scrubbed too.
    """
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _NAMES.search(name) and value in text:
            text = text.replace(value, f"<{name}>")
    return text
