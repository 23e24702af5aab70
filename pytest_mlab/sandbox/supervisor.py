"""The command line of the process that ends what killing our process group would not reach."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

_SCRIPT = Path(__file__).resolve().parents[1] / "children" / "supervise.py"


def supervise_command(
    kind: Literal["sandlock", "container"], settings: Mapping[str, object], argv: Sequence[str]
) -> list[str]:
    """Give the command line that runs `argv` and ends it in the manner of its kind."""
    return [sys.executable, "-I", str(_SCRIPT), kind, json.dumps(settings), *argv]
