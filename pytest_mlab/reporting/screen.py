"""The terminal that pytest writes to, with lines of ours below what it writes or in between."""

import os
import shutil
import threading
from collections.abc import Sequence
from typing import Any, TextIO

import pytest


class Screen:
    """Lets another thread write to pytest's terminal without garbling a line.

    pytest may be in the middle of a line at any time, and may have redirected what it captures. So
    all that it writes goes through here, and ours goes to a duplicate of the stream as it was when
    nothing was captured. To be made while nothing is; `close` puts everything back.

    Raises `OSError` or `ValueError` where pytest's stream is no file of the system's.
    """

    def __init__(self, config: pytest.Config, stream: TextIO) -> None:
        self._writer: Any = config.get_terminal_writer()
        self._stream = os.fdopen(
            os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="replace"
        )
        self._lock = threading.RLock()
        self._line = ""
        self._below: Sequence[str] = ()
        self._write = self._writer.write
        self._writer.write = self._intercept  # type: ignore[method-assign]  # on this one alone

    @property
    def size(self) -> os.terminal_size:
        """Columns and lines, now; those of the stream, since pytest's may be redirected."""
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except OSError:  # no terminal
            return shutil.get_terminal_size()
        return size if size.columns and size.lines else os.terminal_size((80, 24))

    def insert(self, lines: Sequence[str], *, anew: bool = False) -> None:
        """Write lines for good; pytest's own unfinished line goes on after them.

        ``anew`` says that somebody else may have left a line unfinished, too.
        """
        with self._lock:
            start = "\n" if self._line or anew else ""
            self._stream.write(start + "".join(f"{line}\n" for line in lines) + self._line)
            self._stream.flush()

    def paint(self, lines: Sequence[str]) -> None:
        """Show lines below what pytest writes, in place of those that were shown before."""
        with self._lock:
            self._below = lines
            below = bool(self._line)
            column = self._writer.width_of_current_line % max(1, self.size.columns)
            up = len(lines) - 1 + below
            self._stream.write(
                "\x1b[J"
                + ("\n" if below else "")
                + "\n".join(lines)
                + (f"\x1b[{up}A" if up else "")
                + "\r"
                + (f"\x1b[{column}C" if column else "")
            )
            self._stream.flush()

    def close(self) -> None:
        """Leave pytest's terminal as it was."""
        with self._lock:
            self._erase()
            del self._writer.write  # the class's own comes to light again
            self._stream.close()

    def _intercept(self, msg: str, *, flush: bool = False, **markup: bool) -> None:
        with self._lock:
            self._erase()
            self._write(msg, flush=True, **markup)
            _, newline, after = msg.rpartition("\n")
            shown = self._writer.markup(after, **markup) if after else ""
            self._line = shown if newline else self._line + shown
            if self._below:
                self.paint(self._below)

    def _erase(self) -> None:
        if self._below:
            self._stream.write("\x1b[J")
            self._stream.flush()
