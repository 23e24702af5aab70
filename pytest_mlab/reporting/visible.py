"""Text that others wrote, made safe to look at: nothing in it acts, hides or breaks a file.

What agents and their programs print goes into terminals, web pages and pull requests. Sequences
that steer a terminal are taken out; characters that have no shape, or that turn around the text
beside them, are shown by their number, so that a reader sees what is there.
"""

import re

_TERMINAL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC and other strings: titles, links
    r"|[ -/]*[0-~])"  # two characters: reset and the like
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls but tab, newline and carriage return
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u206f\ufeff"  # direction, width, breaks
    "\ud800-\udfff\ufff9-\ufffb\ufffe\uffff"  # half a pair, annotations, no characters
    "\U000e0000-\U000e007f]"  # tags, which hide text in text
)


def make_visible(text: str) -> str:
    """Give a text with everything that is unseen shown or taken out; see the module.

    A line that a progress bar wrote over again and again is given as it was left.
    """
    text = _TERMINAL.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _UNSEEN.sub(_name, text)


def shorten_middle(text: str, most: int) -> str:
    """Give the head and the tail of a text that is too long, and how much is left out between."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-(most // 2) :]
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters left out …]\n{tail}"


def _name(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
