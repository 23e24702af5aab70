"""Results to report on: made by hand, and drawn by Hypothesis."""

from typing import Any

from hypothesis import strategies as st

from pytest_mlab.results import STATUSES, Identity, Result, Status, Stop, Usage

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)
COUNTS = st.integers(min_value=0, max_value=10**9)


def make_identity(task: str = "digits", trial: int = 0, **changes: Any) -> Identity:
    """Make an identity, of a trial of hillclimb on digits unless told otherwise."""
    values: dict[str, Any] = {
        "task": task,
        "agent": "hillclimb",
        "llm": None,
        "trial": trial,
        "nodeid": f"tasks/{task}/task.toml::test_beats_baseline[{task}-{trial}]",
        "task_digest": "f00d",
        "seed": 0,
    }
    return Identity(**values | changes)


def make_result(
    status: Status = "success", improvement: float | None = None, **changes: Any
) -> Result:
    """Make a result with figures that suit its status, unless told otherwise."""
    if improvement is None:
        improvement = {"success": 0.13, "below-threshold": 0.02}.get(status)
    identity = make_identity(changes.get("task", "digits"), changes.get("trial", 0))
    values = vars(identity) | {
        "status": status,
        "stop": "submitted",
        "metric": "accuracy",
        "score": None if improvement is None else 0.8 * (1 + improvement),
        "baseline": 0.8,
        "improvement": improvement,
        "steps": 12,
        "seconds": 31.2,
    }
    return Result(**values | changes)


def make_results(text: str, **changes: Any) -> list[Result]:
    """Make one result a letter: Success, Below, Invalid, No submission, Tampered, errors."""
    names: dict[str, Status] = {
        "S": "success",
        "B": "below-threshold",
        "I": "invalid-submission",
        "N": "no-submission",
        "A": "agent-error",
        "T": "tampered",
        "P": "infra-error",
        "H": "harness-error",
    }
    return [make_result(names[letter], trial=n, **changes) for n, letter in enumerate(text)]


def results() -> st.SearchStrategy[Result]:
    """Draw any result that can be written down."""
    stops: list[Stop] = ["submitted", "steps", "time", "tokens", "cost", "gave-up", "crashed"]
    return st.builds(
        Result,
        task=st.sampled_from(["digits", "house-price", "größe"]),
        agent=st.sampled_from(["hillclimb", "research"]),
        llm=st.sampled_from([None, "gpt-4", "openai:x@http://h/v1"]),
        trial=st.integers(0, 7),
        nodeid=st.text(),
        task_digest=st.text(),
        seed=st.integers(0, 2**63),
        status=st.sampled_from(STATUSES),
        stop=st.sampled_from([None, *stops]),
        metric=st.text(),
        score=st.none() | FINITE,
        baseline=st.none() | FINITE,
        improvement=st.none() | FINITE,
        best_score=st.none() | FINITE,
        threshold=FINITE,
        steps=COUNTS,
        seconds=st.floats(0, 1e6),
        usage=st.builds(Usage, COUNTS, COUNTS, COUNTS, st.floats(0, 1e6)),
        detail=st.text(),
        flags=st.lists(st.text()).map(tuple),
        folder=st.text(),
        resumed=st.text(),
    )
