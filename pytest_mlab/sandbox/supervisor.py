"""The command line of the process that ends what killing our process group would not reach."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

# Isolated, it looks neither at the environment nor at the working folder, which are the agent's.
_SCRIPT = """
import sys
sys.path.append(sys.argv.pop(1))
from pytest_mlab.children.supervise import main
sys.exit(main())
"""


def supervise_command(
    kind: Literal["landlock", "container"], settings: Mapping[str, object], argv: Sequence[str]
) -> list[str]:
    """Give the command line that runs `argv` and ends it in the manner of its kind."""
    folder = str(Path(__file__).resolve().parents[2])
    return [sys.executable, "-I", "-c", _SCRIPT, folder, kind, json.dumps(settings), *argv]
