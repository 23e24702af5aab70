"""The far side of `pytest_mlab.repl`: runs pieces of Python and keeps their state.

Its source is handed to ``python -c``, so it imports nothing but the standard library. Standard
input carries the pieces, each after a line with its length in bytes and a mark. Standard error
carries, one line each, that this script is ready and how each piece ended; both streams of the
pieces themselves go to standard output, so that nothing printed can be taken for an end. The mark
follows what a piece has printed: who passes the streams on may keep no order between them.
"""

import ast
import linecache
import os
import sys
import traceback
import types
from typing import Any, BinaryIO


def serve() -> None:
    """Run pieces until standard input ends."""
    commands = os.fdopen(os.dup(0), "rb")
    output, control = os.dup(1), os.dup(2)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(1, 2)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    sys.path.insert(0, "")
    own = os.getpid()
    os.write(control, b"ready\n")
    number = 0
    while (piece := _read(commands)) is not None:
        source, mark = piece
        number += 1
        finished = _run(source, f"<command {number}>", main.__dict__)
        if os.getpid() != own:
            os._exit(0)  # a piece forked, and this is its child
        _flush()
        os.write(output, mark)
        os.write(control, b"finished\n" if finished else b"raised\n")


def _read(commands: BinaryIO) -> tuple[str, bytes] | None:
    line = commands.readline().split()
    if not line:
        return None
    length, mark = line
    return commands.read(int(length)).decode("utf-8", "surrogatepass"), mark


def _run(source: str, name: str, namespace: dict[str, Any]) -> bool:
    """Run one piece and show the value of a last expression; tell whether it did not raise."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            exec(compile(ast.Interactive([last]), name, "single"), namespace)
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
        if trace is not None and trace.tb_frame.f_globals is ast.__dict__:
            trace = None
        traceback.print_exception(type(error), error, trace)
        return False
    return True


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue  # a piece replaced or closed it


serve()
