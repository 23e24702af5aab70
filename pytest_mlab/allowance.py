"""What a session may use: money, tokens, GPU-hours and time, as ``--mlab-budget`` writes them."""

import math
import re
from dataclasses import dataclass

from pytest_mlab.exceptions import UsageError

_PART = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)\s*(?P<unit>[a-z]*)", re.IGNORECASE)
_UNITS: dict[str, tuple[str, float]] = {
    "": ("usd", 1),
    "usd": ("usd", 1),
    "tok": ("tokens", 1),
    "ktok": ("tokens", 1e3),
    "mtok": ("tokens", 1e6),
    "gtok": ("tokens", 1e9),
    "gpuh": ("gpu_hours", 1),
    "min": ("hours", 1 / 60),
    "h": ("hours", 1),
    "d": ("hours", 24),
}


@dataclass(frozen=True)
class Allowance:
    """How much may be used of each kind; infinite where there is no limit.

    ``hours`` are wall time of the session, ``gpu_hours`` those of all its devices together.
    """

    usd: float = math.inf
    tokens: float = math.inf
    gpu_hours: float = math.inf
    hours: float = math.inf


def parse_allowance(text: str) -> Allowance:
    """Read ``5`` (US dollars) or ``5usd,2Mtok,8gpuh,3h``; `UsageError` says what it takes."""
    limits: dict[str, float] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        kind, factor = _UNITS.get(match["unit"].lower(), ("", 0.0)) if match else ("", 0.0)
        if match is None or not kind or kind in limits:
            raise UsageError(
                f'--mlab-budget: "{text}" is not an amount such as 5 (US dollars), or several with '
                "a unit each: 5usd,2Mtok,8gpuh,3h (also ktok, min, d)"
            )
        limits[kind] = float(match["number"]) * factor
        if not limits[kind]:
            raise UsageError(f'--mlab-budget: "{part.strip()}" is not above 0')
    return Allowance(**limits)
