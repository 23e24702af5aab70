"""The far side of `pytest_mlab.timing`: load code, call one function once, hand back its output.

Its source is handed to ``python -I -c``; standard input is a socket to the process that measures.
NumPy is imported before the code under test, whose module is made from text and lies in no folder
on ``sys.path``: a file of the workspace named like a library cannot take the library's place.
"""

import ctypes
import io
import linecache
import os
import signal
import socket
import struct
import sys
import traceback
import types
from typing import BinaryIO

import numpy as np

LENGTH = struct.Struct(">Q")
READY = b"+"
_PR_SET_PDEATHSIG = 1


def receive(stream: BinaryIO) -> bytes:
    """Read one message: its length, then its bytes."""
    (length,) = LENGTH.unpack(stream.read(LENGTH.size))
    return stream.read(length)


def load(name: str, source: bytes) -> types.ModuleType:
    """Make a module from source text, whose lines tracebacks can show."""
    lines = source.decode("utf-8", errors="replace").splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    module = types.ModuleType("code_under_test")
    module.__file__ = name
    sys.modules[module.__name__] = module
    exec(compile(source, name, "exec"), vars(module))
    return module


def main() -> None:
    """Serve one call."""
    # In a session of its own it would outlive a scorer that is killed.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what the code prints must not end up in its output
    stream = channel.makefile("rb")
    name, function, source = receive(stream), receive(stream), receive(stream)
    call = getattr(load(name.decode(), source), function.decode())
    channel.sendall(READY)
    message = io.BytesIO(receive(stream))
    arguments = []
    while message.tell() < message.getbuffer().nbytes:
        arguments.append(np.load(message, allow_pickle=False))
    output = io.BytesIO()
    np.save(output, call(*arguments), allow_pickle=False)
    channel.sendall(output.getbuffer())
    channel.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()  # before Python 3.13, only this shows lines that are in no file
        sys.exit(1)
