"""Making attacks: each in a process of its own, so that none ends or delays the others."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Any

Config = dict[str, Any]
Attack = Callable[[Config], Iterable[str]]
"""Makes an attack with what it is told, and gives what it got hold of."""

SECONDS = 30
"""How long one attack may take, on however busy a machine; what it found by then counts."""


def make_attacks(attacks: Iterable[Attack], config: Config) -> None:
    """Make one attack after the other, and print what each found, one JSON object a line."""
    for attack in attacks:
        _make(attack, config)
    sys.stdout.flush()


def _make(attack: Attack, config: Config) -> None:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, _end)
        signal.alarm(SECONDS)
        found: set[str] = set()
        with contextlib.suppress(Exception):
            for each in attack(config):
                found.add(each)
        signal.alarm(0)
        print(json.dumps({"attack": attack.__name__, "found": sorted(found)[:50]}), flush=True)
        os._exit(0)
    os.waitpid(child, 0)


def _end(*_: object) -> None:
    raise TimeoutError
