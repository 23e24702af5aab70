"""What went wrong, by kind: trials that failed for the same reason, whatever its figures."""

import re
from collections import Counter
from collections.abc import Sequence

from pytest_mlab.reporting.table import Table
from pytest_mlab.reporting.visible import make_visible
from pytest_mlab.results import Result

MOST = 15
"""How many kinds are told apart; the rest are counted together."""
LONGEST = 90

_FIGURE = re.compile(r"\d[\d,.]*(?:e[-+]?\d+)?", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")


def kind_of(result: Result) -> str:
    """Say why a trial did not succeed, its figures and names left out; why it stopped if no more.

    Two submissions with 97 and with 98 rows too few failed alike.
    """
    reason = make_visible(result.detail).strip().partition("\n")[0]
    if not reason:
        return f"stopped: {result.stop}" if result.stop else "no reason recorded"
    reason = _FIGURE.sub("#", _QUOTED.sub("…", reason))
    return reason if len(reason) <= LONGEST else f"{reason[: LONGEST - 1]}…"


def failure_table(results: Sequence[Result]) -> Table:
    """Count the failures of each kind, the commonest first."""
    failures = [result for result in results if not result.success]
    kinds = Counter((result.status, kind_of(result)) for result in failures)
    rows = []
    for (status, kind), count in kinds.most_common(MOST):
        tasks = {one.task for one in failures if (one.status, kind_of(one)) == (status, kind)}
        rows.append((f"{status}: {kind}", str(count), str(len(tasks))))
    rest = len(failures) - sum(int(count) for _, count, _ in rows)
    if rest:
        rows.append((f"{len(kinds) - MOST} other kinds", str(rest), ""))
    return Table("Failures by kind", ("kind", "trials", "tasks"), tuple(rows))
