"""Servers that language models are asked at in tests: none of them needs a key or a network."""

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RULES = Path(__file__).with_name("fakellm.yaml")


@contextmanager
def serve_fakellm() -> Iterator[str]:
    """Run PyPI's `fakellm`, which answers both protocols by the rules in ``fakellm.yaml``."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = [sys.executable, "-m", "uvicorn", "fakellm.server:app", "--log-level=error"]
        server = subprocess.Popen(
            [*command, f"--fd={listener.fileno()}"],
            pass_fds=[listener.fileno()],
            env={"FAKELLM_CONFIG": str(RULES)},
        )
    try:
        _wait_for(f"{url}/_fakellm/stats")
        yield url
    finally:
        server.terminate()
        server.wait()


def _wait_for(url: str) -> None:
    with urllib.request.urlopen(url, timeout=60):  # the listener queues it until the server is up
        pass


@dataclass
class Answer:
    """One canned answer: ``body`` as JSON, or raw bytes for what no well-behaved server sends.

    ``delay`` is in seconds before the answer; ``trickle`` sends a byte at that interval instead of
    all at once; ``cut`` hangs up after that many bytes.
    """

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    trickle: float = 0.0
    cut: int | None = None

    @property
    def data(self) -> bytes:
        """The body's bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Canned:
    """A server's address, the answers it has still to give, and the requests it got."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def serve_canned(*answers: Answer) -> Iterator[Canned]:
    """Give the answers one after the other, the last of them again and again."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each answer would wait 40 ms for its second packet

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            canned.requests.append(json.loads(body))
            canned.headers.append({name.lower(): value for name, value in self.headers.items()})
            canned.paths.append(self.path)
            answer = canned.answers.pop(0) if len(canned.answers) > 1 else canned.answers[0]
            try:
                self._answer(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client did not wait

        def _answer(self, answer: Answer) -> None:
            time.sleep(answer.delay)
            self.send_response(answer.status)
            headers = {"content-type": "application/json", **answer.headers}
            for name, value in {**headers, "content-length": str(len(answer.data))}.items():
                self.send_header(name, value)
            self.end_headers()
            sent = answer.data if answer.cut is None else answer.data[: answer.cut]
            for piece in _pieces(sent, answer.trickle):
                self.wfile.write(piece)
                self.wfile.flush()
            self.close_connection = answer.cut is not None

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    canned = Canned(f"http://127.0.0.1:{server.server_address[1]}", list(answers))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield canned
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _pieces(data: bytes, trickle: float) -> Iterator[bytes]:
    if not trickle:
        yield data
        return
    for at in range(len(data)):
        time.sleep(trickle)
        yield data[at : at + 1]


Serve = Callable[..., Canned]
