"""The test that every task folder is collected as.

PYTEST_DONT_REWRITE: the assertion's message says all there is to say.
"""

from collections.abc import Callable

from pytest_mlab.results import Result


def test_beats_baseline(mlab_run: Callable[[], Result]) -> None:
    """The agent's final submission improves on the baseline by more than the threshold."""
    result = mlab_run()
    assert result.success, result.summary()


test_beats_baseline.__test__ = True  # type: ignore[attr-defined]  # whatever python_functions says
