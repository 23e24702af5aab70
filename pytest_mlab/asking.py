"""Short questions to a fast language model, and texts too long for one of them."""

from collections.abc import Iterator

from pytest_mlab.exceptions import ActionError
from pytest_mlab.llm import LLM, Message, Reply, Request

TEMPERATURE = 0.01
TOKENS = 2000
BLOCK = 10_000
"""Characters of a text that are looked at in one request."""
MOST_BLOCKS = 10
"""Blocks that are looked at, half of them from the end: a long text must not cost without bound."""


def ask_fast(llm: LLM, prompt: str) -> str:
    """Ask for a short text; raises `ActionError` where the model gives none."""
    request = Request(
        messages=(Message.user(clean(prompt)),),
        temperature=TEMPERATURE,
        max_tokens=TOKENS,
    )
    reply = llm.complete(request)
    if reply.stop in {"refused", "filtered"} or not reply.text.strip():
        raise ActionError(f"The language model gave no answer{describe_stop(reply)}.")
    return reply.text.strip()


def clean(text: str) -> str:
    """Replace what cannot be sent as UTF-8: lone surrogates, which broken files decode to."""
    return text.encode("utf-8", "replace").decode("utf-8")


def split_text(text: str, size: int = BLOCK, most: int = MOST_BLOCKS) -> Iterator[tuple[str, str]]:
    """Cut a text into blocks of ``size`` characters and give each one's place and text.

    Of more than ``most`` the middle ones are left out, and the place before the gap says so.
    """
    count = max(1, -(-len(text) // size))
    head = most - most // 2
    kept = range(count) if count <= most else [*range(head), *range(count - most // 2, count)]
    for index in kept:
        start, end = index * size, min(len(text), (index + 1) * size)
        place = f"characters {start + 1:,} to {end:,} of {len(text):,}"
        if count > most and index == head - 1:
            place += f"; the next {(count - most) * size:,} characters are left out"
        yield place, text[start:end]


def number(parts: list[str]) -> str:
    """Put texts one below the other, numbered."""
    return "\n\n".join(f"Part {index}:\n{part}" for index, part in enumerate(parts, start=1))


def describe_stop(reply: Reply) -> str:
    """Say why an answer is none, as the end of a sentence; nothing where it is one."""
    words = {"refused": ": it refuses", "filtered": ": its provider withheld it"}
    said = f" ({reply.text.strip():.200})" if reply.text.strip() else ""
    return words.get(reply.stop, "") + said


def cut_middle(text: str, most: int) -> str:
    """Give a text without its middle where it is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n({left_out:,} characters are left out)\n{text[-half:]}"
