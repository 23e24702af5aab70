"""A gate's verdict on disk and in reports: as JSON values, in words, as a table."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_mlab.gates import Claim, Evidence, Judgement, Verdict
from pytest_mlab.reporting.formats import format_count
from pytest_mlab.reporting.table import Table


def describe_verdict(verdict: Verdict) -> dict[str, Any]:
    """Give a verdict as the results document has it."""
    return {
        "gate": verdict.gate,
        "verdict": verdict.decision,
        "reason": verdict.reason,
        "more_trials": verdict.more,
        "not_needed": verdict.not_needed,
        "notes": list(verdict.notes),
        "claims": [
            dataclasses.asdict(claim)
            | {
                "verdict": judgement.decision,
                "reason": judgement.reason,
                "more_trials": judgement.more,
                "looks": judgement.looks,
            }
            | dataclasses.asdict(judgement.evidence)
            for claim, judgement in verdict.claims.items()
        ],
    }


def read_verdict(record: Mapping[str, Any]) -> Verdict:
    """Give back what `describe_verdict` has described; KeyError where something is missing."""
    claims = {
        Claim(claim["agent"], claim["llm"], claim["task"]): Judgement(
            claim["verdict"],
            claim["reason"],
            claim["looks"],
            Evidence(claim["successes"], claim["misses"], claim["unknown"]),
            claim["more_trials"],
        )
        for claim in record["claims"]
    }
    return Verdict(record["gate"], claims, tuple(record["notes"]), record["not_needed"])


def advise(verdict: Verdict) -> str:
    """Say what would decide, where it is not decided and that can be told; else nothing."""
    open_claims = verdict.deciding.values() if verdict.decision == "undecided" else ()
    if not any(judgement.looks for judgement in open_claims):
        return ""
    if verdict.more is None:
        return "no number of trials would decide at this rate"
    unknown = sum(judgement.evidence.unknown for judgement in open_claims)
    if verdict.more <= unknown:
        return (
            f"{format_count(unknown, 'trial')} without an outcome would decide; --mlab-resume runs "
            "again what broke down or did not run"
        )
    return f"about {format_count(verdict.more, 'more trial')} would decide, were the rate to stay"


def add_remarks(verdict: Verdict) -> Iterator[str]:
    """Say what is to be known beside the verdict and its reasons."""
    advice = advise(verdict)
    if advice:
        yield advice
    if verdict.not_needed:
        yield f"{format_count(verdict.not_needed, 'trial')} not needed"
    yield from verdict.notes


def verdict_table(verdict: Verdict, session: str | None = None) -> Table:
    """Give a verdict as a table, a row for each claim and the reasons below.

    The title names the ``session`` where there are several.
    """
    rows = [
        (
            str(claim),
            judgement.decision,
            str(judgement.evidence.successes),
            str(judgement.evidence.misses),
            str(judgement.evidence.unknown),
        )
        for claim, judgement in verdict.claims.items()
    ]
    of_session = f" ({session})" if session else ""
    return Table(
        f"Gate {verdict.gate}: {verdict.decision.upper()}{of_session}",
        ("claim", "verdict", "succeeded", "missed", "no outcome"),
        tuple(rows),
        (*_give_reasons(verdict), *add_remarks(verdict)),
    )


def _give_reasons(verdict: Verdict) -> Sequence[str]:
    return [f"{claim}: {judgement.reason}" for claim, judgement in verdict.claims.items()]
