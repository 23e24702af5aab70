"""The test that ``--mlab-prepare`` collects every task folder as: is it ready to be tried?

PYTEST_DONT_REWRITE: what it needs is done by its fixtures.
"""

from pytest_mlab.data import PreparedData
from pytest_mlab.task import Baseline


def test_is_ready(mlab_data: PreparedData, mlab_baseline: Baseline) -> None:
    """The data are prepared, and the baseline is known."""
