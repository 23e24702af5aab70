"""How long trials take, kept from session to session in pytest's cache."""

from typing import Any, TypeGuard

import pytest

from pytest_mlab.planning import Expectations
from pytest_mlab.results import ERRORS, Result

_KEY = "mlab/seconds"


class Pace:
    """Learns from each trial that ends; registered in the controller.

    What counts is a trial's turn and its scoring, not what it waited for before. A trial that
    ended in an error says nothing about those to come.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._cache: pytest.Cache | None = getattr(config, "cache", None)
        learnt = self._cache.get(_KEY, None) if self._cache is not None else None
        self.expectations = Expectations(learnt if _makes_sense(learnt) else {})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in how long a trial has lasted."""
        record: str | None = getattr(report, "mlab_result", None)
        if record is not None and report.when == "call":
            result = Result.from_json(record)
            if result.status not in ERRORS and not result.resumed:
                self.expectations.learn(result, report.duration)

    def pytest_sessionfinish(self) -> None:
        """Keep what was learnt."""
        if self._cache is not None:
            self._cache.set(_KEY, self.expectations.to_dict())


def _makes_sense(learnt: Any) -> TypeGuard[dict[str, float]]:
    return isinstance(learnt, dict) and all(isinstance(s, int | float) for s in learnt.values())


PACE = pytest.StashKey[Pace]()
"""The controller's."""
