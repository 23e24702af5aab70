"""Sessions of real trials without agents, run through pytest's command line."""

from collections.abc import Callable
from pathlib import Path

import pytest

# ours, which trials.py stands in for; and what takes longer to import than a session to run
BLOCKED = ("pytest_mlab.plugin", "hypothesispytest", "anyio")
RunTrials = Callable[..., pytest.RunResult]


@pytest.fixture(params=[("-p", "no:xdist"), ("-n0",), ("-n2",)], ids=" ".join)
def plugin_args(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Give the ways in which a session may run: without xdist, with it idle, with two workers."""
    args: tuple[str, ...] = request.param
    return args


@pytest.fixture
def run_trials(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RunTrials:
    """Run pytest on test files given by name, with trials reported as the plugin reports them."""
    pytester.makeconftest(Path(__file__).with_name("trials.py").read_text())
    monkeypatch.setenv("COLUMNS", "80")

    def run(*args: object, **files: str) -> pytest.RunResult:
        pytester.makepyfile(**files)
        blocked = [part for name in BLOCKED for part in ("-p", f"no:{name}")]
        return pytester.runpytest_subprocess(*blocked, *map(str, args))

    return run
