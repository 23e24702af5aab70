"""How a trial's status becomes an outcome of pytest's: decided here and nowhere else.

success                                              PASSED
below-threshold, invalid-submission,
no-submission, agent-error, tampered                 FAILED, <failure> in JUnit
infra-error, harness-error                           ERROR, <error> in JUnit
something that the task needs is not here            SKIPPED, with the remedy;
                                                     ERROR with --mlab-strict
the session's budget was used up before              SKIPPED

Where a gate judges all trials together, a single one that FAILED so is MISSED instead: to pytest an
expected failure, which neither fails the session nor stops it.
"""

import pytest

from pytest_mlab.collection import TaskModule, identity_of
from pytest_mlab.exceptions import LeftOver, MlabError, Unavailable
from pytest_mlab.results import ERRORS, Result, error_result
from pytest_mlab.subjects import SETTINGS

STARTED = pytest.StashKey[bool]()
"""Set on an item when its trial starts, before anything can go wrong."""
RESULT = pytest.StashKey[Result | None]()
"""Set on an item when its trial has come to its end."""


def settle_outcome(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> Result | None:
    """Give a phase of an item its outcome, and the trial's result where this phase decides it."""
    if call.when == "setup":  # of a rerun too
        item.stash[STARTED], item.stash[RESULT] = False, None
    error = call.excinfo.value if call.excinfo is not None else None
    lenient = isinstance(error, LeftOver) or not item.config.stash[SETTINGS].strict
    if isinstance(error, Unavailable) and lenient:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, f"Skipped: {error}")
        return None
    result = _find_result(item, error, report)
    ours = item.getparent(TaskModule) is not None
    verdict = ours and isinstance(error, AssertionError)
    if report.failed and (
        isinstance(error, MlabError)
        or (result is not None and result.status in ERRORS)
        or (ours and not verdict)
    ):
        # pytest and JUnit call an error what goes wrong outside the call.
        report.when = "setup"
    if isinstance(error, MlabError) or (verdict and str(error)):
        # The message says all there is to say; a traceback of ours would bury it.
        report.longrepr = str(error)
    missed = verdict and report.when == "call" and result is not None and not result.success
    if missed and item.config.stash[SETTINGS].gate is not None:
        report.outcome, report.wasxfail = "skipped", f"missed: {error}"
        report.mlab_missed = True  # type: ignore[attr-defined]  # reports take extras
    return result


def _find_result(
    item: pytest.Item, error: BaseException | None, report: pytest.TestReport
) -> Result | None:
    identity = identity_of(item)
    skipped = report.skipped and not hasattr(report, "wasxfail")
    if identity is None or report.when == "teardown" or skipped:
        return None
    result = item.stash[RESULT]
    if result is not None:
        # Whatever a test or a hook thought of it afterwards, this is what came of the trial.
        return result
    if isinstance(error, MlabError):
        return error_result(identity, error)
    if error is not None and item.stash[STARTED]:
        first = str(error).strip().partition("\n")[0]
        detail = f"{type(error).__name__}: {first}"
        return Result(**vars(identity), status="harness-error", detail=detail)
    return None
