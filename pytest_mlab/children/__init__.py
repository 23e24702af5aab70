"""Scripts that run as processes of their own, and the command lines that start them."""

import sys
import traceback
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def child_command(name: str, *arguments: str) -> list[str]:
    """Give the command line that runs a script of this folder; needs `CHILD_ENVIRONMENT`."""
    return [sys.executable, "-s", "-P", "-m", f"pytest_mlab.children.{name}", *arguments]


def format_exception(error: Exception, file: Path) -> str:
    """Give an exception's traceback from the author's file on: what is above it is ours."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(file):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace, limit=-4))


CHILD_ENVIRONMENT = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
"""Lets a child import this package from a bare checkout too."""
