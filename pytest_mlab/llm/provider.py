"""What all SDKs have in common: a call ends in time, and its errors become this project's.

Retries and back-off are the SDKs' own. Their time-outs are for one silence on the line, though, so
a server that trickles, or asks to be retried in an hour, would hold a trial beyond its end: a call
runs in a thread of its own, which nobody waits for longer than the request allows.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from typing import Any

from pytest_mlab.llm import errors
from pytest_mlab.llm.catalog import Spec
from pytest_mlab.llm.messages import Reply, Request
from pytest_mlab.llm.secrets import scrub

RETRIES = 5
SILENCE = 600.0
"""Seconds without a byte after which an SDK gives an attempt up."""

_TOO_LONG = ("context_length", "context length", "context size", "context window", "too long")
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
_FILTERED_CODES = {"content_filter", "content_policy_violation"}

_thread = threading.local()


class Provider(ABC):
    """An LLM behind an SDK; a subclass speaks one wire protocol.

    ``url_variable`` names the environment variable by which its SDK's users send it elsewhere.
    """

    url_variable: str

    def __init__(self, spec: Spec, *, retries: int = RETRIES) -> None:
        self.name = spec.name
        self.spec = spec
        # The SDKs want a key even where the server does not.
        key = os.environ.get(spec.key_variable or "", "") or "not-needed"
        url = spec.base_url or os.environ.get(self.url_variable)
        self.client = self.connect(url, key, retries)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def complete(self, request: Request) -> Reply:
        """Answer one request, within its ``seconds``."""
        body = self.write(request)
        start = time.monotonic()
        try:
            answer = self._ask(body, request.seconds)
        except Exception as error:
            if _codes(error) & _FILTERED_CODES:
                said = scrub(str(getattr(error, "message", error)))
                return Reply(text=said, stop="filtered", model=self.spec.model)
            raise translate(self.spec, error) from None
        return self.read(request, answer, time.monotonic() - start)

    @staticmethod
    @abstractmethod
    def connect(base_url: str | None, key: str, retries: int) -> Any:
        """Give the SDK's client, one for all trials of a process: making one takes its time."""

    @abstractmethod
    def write(self, request: Request) -> dict[str, Any]:
        """Put a request into the words of the protocol."""

    @abstractmethod
    def ask(self, body: dict[str, Any], timeout: float) -> Any:
        """Send a request and wait for the answer."""

    @abstractmethod
    def read(self, request: Request, answer: Any, seconds: float) -> Reply:
        """Take an answer apart; raises `BadAnswer` where it is not of the protocol."""

    def _ask(self, body: dict[str, Any], seconds: float | None) -> Any:
        """Send a request in a thread, and wait for its answer no longer than ``seconds``."""
        allowed = float("inf") if seconds is None else seconds
        answers: list[Any] = []
        failures: list[Exception] = []

        def run() -> None:
            _thread.deadline = time.monotonic() + allowed
            try:
                answers.append(self.ask(body, min(allowed, SILENCE)))
            except Exception as error:
                failures.append(error)

        worker = threading.Thread(target=run, name=f"mlab-llm {self.name}", daemon=True)
        worker.start()
        worker.join(seconds)
        if failures:
            raise failures[0]
        if not answers:
            raise Late(f"no answer within {allowed:.1f} s")
        return answers[0]


class Late(Exception):
    """The answer did not come in time."""


def forbid_late_requests(_request: Any) -> None:
    """Stop an SDK that would try once more for a caller who has gone; it calls this to send."""
    if time.monotonic() > getattr(_thread, "deadline", float("inf")):
        raise Late


def translate(spec: Spec, error: Exception) -> Exception:
    """Give this project's error for an SDK's; the SDKs' errors have the same shape."""
    status = getattr(error, "status_code", None)
    message = f"{spec.name}: {scrub(str(error))}"
    if isinstance(status, int) and status >= 400:
        return _of_status(spec, status, error, message)
    if isinstance(error, UnicodeEncodeError):
        return errors.RequestError(f"The prompt holds what cannot be sent as text: {error}")
    kind = type(error).__name__
    if kind in {"APIConnectionError", "APITimeoutError", "Late"}:
        cause = scrub(f" ({error.__cause__})") if error.__cause__ else ""
        where = f" at {spec.base_url}" if spec.base_url else ""
        return errors.ConnectionLost(f"{message}{cause}{where}")
    return errors.BadAnswer(f"{message} ({kind})")


def _of_status(spec: Spec, status: int, error: Exception, message: str) -> Exception:
    note = f" ({spec.note})" if spec.note else ""
    key = f"; the key is in {spec.key_variable}" if spec.key_variable else "; no key was sent"
    if status == 413 or (status in {400, 422} and _is_too_long(error)):
        return errors.TooLong(message)
    if status in {401, 402, 403}:
        return errors.InvalidKey(message + key)
    if status == 404:
        return errors.UnknownModel(message + note)
    if status == 429:
        return errors.RateLimited(message)
    if status in {408, 409} or status >= 500:
        return errors.Overloaded(message)
    return errors.RequestError(message + note)


def _is_too_long(error: Exception) -> bool:
    said = str(error).lower()
    return bool(_codes(error) & _TOO_LONG_CODES) or any(words in said for words in _TOO_LONG)


def _codes(error: Exception) -> set[str]:
    """Collect what the answer's body calls the error, at whatever depth the provider puts it."""
    found = {str(getattr(error, "code", "")), str(getattr(error, "type", ""))}
    body = getattr(error, "body", None)
    while isinstance(body, dict):
        found |= {str(body.get("code", "")), str(body.get("type", ""))}
        body = body.get("error")
    return found
