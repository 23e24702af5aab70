"""Scripts that run as processes of their own, and the command lines that start them."""

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def child_command(name: str, *arguments: str) -> list[str]:
    """Give the command line that runs a script of this folder; needs `CHILD_ENVIRONMENT`."""
    return [sys.executable, "-s", "-P", "-m", f"pytest_mlab.children.{name}", *arguments]


CHILD_ENVIRONMENT = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
"""Lets a child import this package from a bare checkout too."""
