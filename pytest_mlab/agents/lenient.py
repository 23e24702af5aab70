"""Objects as language models write them: JSON, and what is nearly JSON.

Besides JSON proper this reads single-quoted and triple-quoted strings, raw newlines in strings,
quotes in strings that should have been escaped, trailing commas, comments, and Python's True, False
and None. It never completes what is cut off: a file's text that ends too early must not be saved.
"""

import json
import re
from typing import Any

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}
_HEX = {"x": 2, "u": 4, "U": 8}
_SPACE = re.compile(r"(?:\s|//[^\n]*|#[^\n]*)*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None}


class LenientError(ValueError):
    """The text is not an object, however generously read; says where and why."""


def read_object(text: str, start: int = 0) -> tuple[dict[str, Any], int]:
    """Read the object that begins at ``start`` with a brace; give it and where it ends.

    What is JSON is read as JSON says. Raises `LenientError`, and nothing else.
    """
    try:
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
        except ValueError:
            reader = _Reader(text, start)
            value, end = reader.value(), reader.at
    except RecursionError:
        raise LenientError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise LenientError("it is not an object: write {...}")
    return value, end


class _Reader:
    """Reads one value after the other, from ``at`` on."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def value(self, ends: str = "") -> Any:
        """Read a value; in a string, a quote ends it only before one of ``ends``."""
        character = self.peek()
        if character == "{":
            return self.object()
        if character == "[":
            return self.array()
        if character in {'"', "'"}:
            return self.string(ends)
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return self.number(number[0])
        word = _WORD.match(self.text, self.at)
        if word and word[0].lower() in _WORDS:
            self.at = word.end()
            return _WORDS[word[0].lower()]
        raise self.error("a value is expected: text in quotes, a number, true, false or null")

    def object(self) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while self.peek() != "}":
            key = self.key()
            self.expect(":")
            found[key] = self.value(",}")
            if self.peek() != "}":
                self.expect(",")
        self.at += 1
        return found

    def array(self) -> list[Any]:
        self.at += 1
        found = []
        while self.peek() != "]":
            found.append(self.value(",]"))
            if self.peek() != "]":
                self.expect(",")
        self.at += 1
        return found

    def key(self) -> str:
        if self.peek() in {'"', "'"}:
            return self.string(":")
        word = _WORD.match(self.text, self.at)
        if not word:
            raise self.error("a name in quotes is expected")
        self.at = word.end()
        return word[0]

    def number(self, text: str) -> int | float:
        try:
            return int(text)
        except ValueError:
            return float(text)

    def string(self, ends: str) -> str:
        quote = self.text[self.at]
        triple = self.text.startswith(quote * 3, self.at)
        mark = quote * 3 if triple else quote
        start = self.at
        self.at += len(mark)
        parts: list[str] = []
        while self.at < len(self.text):
            if self.text[self.at] == "\\":
                parts.append(self.escape())
            elif self.text.startswith(mark, self.at) and (triple or self.closes(ends)):
                self.at += len(mark)
                return "".join(parts)
            else:
                parts.append(self.text[self.at])
                self.at += 1
        self.at = start
        raise self.error("the text that begins here has no end")

    def closes(self, ends: str) -> bool:
        """Tell whether the quote here ends a string, from what stands behind it."""
        space = _SPACE.match(self.text, self.at + 1)
        after = self.text[space.end() : space.end() + 1] if space else ""
        return not ends or after == "" or after in ends

    def escape(self) -> str:
        """Read a backslash and what it stands for; an unknown one stands for itself."""
        letter = self.text[self.at + 1 : self.at + 2]
        digits = self.text[self.at + 2 : self.at + 2 + _HEX.get(letter, 0)]
        if letter in _HEX and len(digits) == _HEX[letter]:
            try:
                character = chr(int(digits, 16))
            except (ValueError, OverflowError):
                pass
            else:
                self.at += 2 + len(digits)
                return character
        self.at += 2 if letter else 1
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        return letter if letter in {'"', "'", "\\", "/"} else "\\" + letter

    def peek(self) -> str:
        """Go past space and comments and give the next character."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self.text):
            raise self.error("it breaks off")
        return self.text[self.at]

    def expect(self, character: str) -> None:
        if self.peek() != character:
            raise self.error(f'"{character}" is expected')
        self.at += 1

    def error(self, problem: str) -> LenientError:
        line = self.text.count("\n", 0, self.at) + 1
        near = self.text[self.at : self.at + 20]
        return LenientError(f"{problem} (line {line}" + (f", at {near!r})" if near else ")"))
