"""What a family of models takes and does: read off its name, since no API says it beforehand."""

import re
from dataclasses import dataclass

THINKING_TOKENS = 16_000
"""Room to think in, on top of ``max_tokens``: without it such a model may never come to answer."""


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What may be sent to a model.

    ``thinks``: it reasons before it answers unless told otherwise, and that counts against the
    output limit. ``longest``: the most tokens it is let write. ``temperature``, ``stop``,
    ``forced_tools``: it takes these parameters.
    """

    thinks: bool = False
    longest: int | None = None
    temperature: bool = True
    stop: bool = True
    forced_tools: bool = True

    def output_limit(self, max_tokens: int) -> int:
        """Give the limit to send for an answer of ``max_tokens``."""
        limit = max_tokens + THINKING_TOKENS * self.thinks
        return limit if self.longest is None else min(limit, self.longest)


PLAIN = Traits()
LOCAL = Traits(longest=512)  # 10 to 20 s; what is longer has lost its thread

# o1, o3, o4-mini, gpt-5, gpt-5.4-mini, gpt-6-sol, codex-mini: 400 for any temperature but 1, and
# for stop. Their -chat variants are ordinary models.
_OPENAI_REASONING = re.compile(r"(o\d|codex-|gpt-([5-9]|\d\d)(?!.*-chat))")
# claude-2.1, claude-3-opus-20240229, claude-opus-4-7, claude-sonnet-5-5, claude-opus-4.8
_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_GEMINI = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


def traits_of(model: str) -> Traits:
    """Say what a model takes; ``model`` may carry a vendor's prefix, as in ``openai/gpt-5``.

    A model of no family known here is taken to be ordinary: it takes everything.
    """
    name = model.rpartition("/")[2].lower()
    if _OPENAI_REASONING.match(name):
        return Traits(thinks=True, temperature=False, stop=False)
    if name.startswith("gpt-oss"):
        return Traits(thinks=True)
    if name.startswith("claude-"):
        return _claude(name)
    if found := _GEMINI.match(name):
        return Traits(thinks=_version(found) >= (2, 5))
    return PLAIN


def _claude(name: str) -> Traits:
    if name.startswith(("claude-mythos", "claude-fable")):
        version = (5, 1)
    elif found := _CLAUDE.match(name):
        version = _version(found)
    else:
        return PLAIN
    # From 4.7 on any temperature is a 400. From 5 on thinking is the default, and tools cannot be
    # forced while a model thinks.
    thinks = version >= (5, 0)
    return Traits(thinks=thinks, temperature=version < (4, 7), forced_tools=not thinks)


def _version(found: re.Match[str]) -> tuple[int, int]:
    return int(found[1]), int(found[2] or 0)
