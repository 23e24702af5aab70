"""What has to come first, however long it takes: earlier rounds, and what broke down last time."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_mlab.collection import identity_of
from pytest_mlab.results import ERRORS, Identity, Result
from pytest_mlab.subjects import SETTINGS

ERRORS_KEY = "mlab/errors"
"""In pytest's cache: the ids of trials whose last result is an error that is not the agent's."""

Rank = tuple[int, int]


def rank_trials(config: pytest.Config) -> Callable[[Identity], Rank] | None:
    """Give the function that ranks trials, None where they are all alike.

    All of one rank come before any of the next. A round is over before the next begins. With
    ``--lf`` and ``--ff``, what failed for reasons of its own comes before what the agent failed at.
    """
    per_round = config.stash[SETTINGS].per_round
    again = config.getoption("lf", False) or config.getoption("failedfirst", False)
    errors = set(_read_errors(config)) if again else set()
    if per_round is None and not errors:
        return None

    def rank(identity: Identity) -> Rank:
        number = 0 if per_round is None else (identity.trial - 1) // per_round
        return number, identity.nodeid not in errors

    return rank


def order_items(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put items into the order of their ranks, and before them the tests that are no trials."""
    rank = rank_trials(config)
    if rank is not None:
        ranked = [
            ((-1, 0) if (identity := identity_of(item)) is None else rank(identity), item)
            for item in items
        ]
        ranked.sort(key=lambda pair: pair[0])
        items[:] = [item for _, item in ranked]


class ErrorMemory:
    """Keeps in pytest's cache which trials ended in errors; registered in the controller."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._errors = dict.fromkeys(_read_errors(config))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what has become of a trial, the last time that it ran."""
        record = getattr(report, "mlab_result", None)
        if record is not None:
            if Result.from_json(record).status in ERRORS:
                self._errors[report.nodeid] = None
            else:
                self._errors.pop(report.nodeid, None)

    def pytest_sessionfinish(self) -> None:
        """Write it down for sessions to come."""
        cache: Any = getattr(self._config, "cache", None)
        if cache is not None and list(self._errors) != _read_errors(self._config):
            cache.set(ERRORS_KEY, list(self._errors))


def _read_errors(config: pytest.Config) -> list[str]:
    cache: Any = getattr(config, "cache", None)
    return [] if cache is None else cache.get(ERRORS_KEY, [])
