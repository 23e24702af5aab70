"""What a cheater might reach by a socket or a signal, and whether it did."""

import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from pytest_mlab.attacks.findings import Finding, Report
from pytest_mlab.attacks.inside.sockets import find_a_way_to_the_network

_FAR_AWAY = "192.0.2.1"
"""An address for documentation, which nobody has."""


class Listeners:
    """Sockets of all kinds, and a signal that is waited for; a context, which closes them."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._datagrams = stack.enter_context(datagrams)
            self._datagrams.bind(("127.0.0.1", 0))
            self._abstract = stack.enter_context(_listen(f"\0{self._token}"))
            # the path of a socket has to be short, so that it cannot lie beside the workspace
            folder = tempfile.mkdtemp(prefix="mlab-", dir="/tmp")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            self._path = Path(folder, "bus")
            self._file = stack.enter_context(_listen(str(self._path)))
            for listener in (self._port, self._datagrams, self._abstract, self._file):
                listener.setblocking(False)
            self._signals = 0
            if threading.current_thread() is threading.main_thread():
                before = signal.signal(signal.SIGURG, self._count_signal)
                stack.callback(signal.signal, signal.SIGURG, before)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def config(self) -> dict[str, Any]:
        """Give what the attacks are told."""
        return {
            "harness": os.getpid(),
            "port": self._port.getsockname()[1],
            "datagram_port": self._datagrams.getsockname()[1],
            "abstract_socket": self._token,
            "socket_file": str(self._path),
            "far_away": _FAR_AWAY,
        }

    def findings(self, reports: list[Report]) -> Iterator[Finding]:
        """Tell what was reached."""
        for attack, listener, what in (
            ("connect_to_a_port", self._port, "a port of the harness"),
            ("connect_to_an_abstract_socket", self._abstract, "an abstract socket of the harness"),
            ("connect_to_a_socket_that_is_a_file", self._file, "a socket of the harness's user"),
        ):
            with suppress(BlockingIOError):
                listener.accept()[0].close()
                yield Finding(attack, f"{what} was reached")
        with suppress(BlockingIOError):
            self._datagrams.recv(100)
            yield Finding("send_a_datagram", "a datagram came to the harness")
        if self._signals:
            yield Finding("signal_the_harness", "a signal came to the harness")
        own = find_own_address()
        for report in reports:
            if report.attack == "find_a_way_to_the_network" and own and own in report.found:
                yield Finding(report.attack, f"it gave this machine's address there, {own}")

    def _count_signal(self, *_: object) -> None:
        self._signals += 1


def find_own_address() -> str | None:
    """Give the address that a packet for the network would leave from; None where none would."""
    return next(find_a_way_to_the_network({"far_away": _FAR_AWAY}), None)


def _listen(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    return listener
