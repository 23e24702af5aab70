"""Gates: what the trials of a session have to show together, and whether they do.

A gate makes claims, one for each agent and LLM or, with ``per-task``, for each of their tasks. A
claim is judged by what its trials came to at one look, or at several where trials run in rounds.
A trial without an outcome (an error that is not the agent's fault, a skip, one that never ran) is
counted both ways: a claim is decided where it is so whichever way all of them would have gone.
"""

import re

from pytest_mlab.exceptions import UsageError
from pytest_mlab.gates.evidence import Claim, Decision, Evidence, Judgement, Verdict
from pytest_mlab.gates.judging import (
    Gate,
    References,
    Trial,
    claim_of,
    judge_trials,
    store_reference,
)
from pytest_mlab.gates.no_worse import ComparisonGate
from pytest_mlab.gates.rate import RateGate

__all__ = [
    "Claim",
    "ComparisonGate",
    "Decision",
    "Evidence",
    "Gate",
    "Judgement",
    "RateGate",
    "References",
    "Trial",
    "Verdict",
    "claim_of",
    "judge_trials",
    "parse_gate",
    "store_reference",
]

_RATE = re.compile(
    r"rate\s*>=\s*(?P<number>\d+\.?\d*|\.\d+)\s*(?P<percent>%?)(?P<words>(\s*,\s*[a-z-]+)*)"
)


def parse_gate(text: str) -> Gate | None:
    """Read the value of ``--mlab-gate``; None for ``each``. `UsageError` says what it takes."""
    stripped = text.strip()
    if stripped == "each":
        return None
    head, _, path = stripped.partition("=")
    if head.strip() == "no-worse-than" and path.strip():
        return ComparisonGate(stripped, path.strip())
    match = _RATE.fullmatch(stripped)
    words = [word.strip() for word in match["words"].split(",")[1:]] if match else []
    if match and set(words) <= {"per-task", "point"} and len(set(words)) == len(words):
        rate = float(match["number"]) / (100 if match["percent"] else 1)
        return _check(RateGate(stripped, rate, "per-task" in words, "point" in words))
    shell = ""
    if stripped == "rate":
        shell = '; a shell takes > for a redirection: put it in quotes, --mlab-gate "rate>=0.375"'
    raise UsageError(
        f'--mlab-gate: "{text}" is not each, rate>=0.375 (or 37.5%, with ",per-task" and ",point" '
        f"to follow) or no-worse-than=results.json{shell}"
    )


def _check(gate: RateGate) -> RateGate:
    if not 0 < gate.rate <= 1:
        raise UsageError(f"--mlab-gate: {gate.text}: a rate is above 0 and at most 1, or 100%")
    if gate.rate == 1 and not gate.by_point:
        raise UsageError(
            f"--mlab-gate: {gate.text}: no number of trials shows a rate of 1; "
            "ask for less, or for rate>=1,point"
        )
    return gate
