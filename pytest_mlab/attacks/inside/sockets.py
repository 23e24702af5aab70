"""Speaking to programs on this machine, and to the network."""

import contextlib
import socket
from collections.abc import Iterator

from pytest_mlab.attacks.inside.making import Attack, Config


def connect_to_a_port(config: Config) -> Iterator[str]:
    """Speak to the harness over TCP."""
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", config["port"]), timeout=2).close()
    return iter(())


def send_a_datagram(config: Config) -> Iterator[str]:
    """Speak to the harness over UDP."""
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        sender.sendto(b"here", ("127.0.0.1", config["datagram_port"]))
    return iter(())


def connect_to_an_abstract_socket(config: Config) -> Iterator[str]:
    """Speak to the harness by a name that is no file."""
    _connect("\0" + config["abstract_socket"])
    return iter(())


def connect_to_a_socket_that_is_a_file(config: Config) -> Iterator[str]:
    """Speak to the harness as programs do to a container engine and to the session's bus."""
    _connect(config["socket_file"])
    return iter(())


def find_a_way_to_the_network(config: Config) -> Iterator[str]:
    """Ask which address a packet for the network would leave from; none is sent."""
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        sender.connect((config["far_away"], 9))
        yield sender.getsockname()[0]


ATTACKS: tuple[Attack, ...] = (
    connect_to_a_port,
    send_a_datagram,
    connect_to_an_abstract_socket,
    connect_to_a_socket_that_is_a_file,
    find_a_way_to_the_network,
)


def _connect(address: str) -> None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        client.connect(address)
