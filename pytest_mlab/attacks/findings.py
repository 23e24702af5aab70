"""What came of an attack, as it is seen from outside."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """An attack that worked, and what shows it."""

    attack: str
    evidence: str


@dataclass(frozen=True)
class Report:
    """What an attack says it got hold of: no evidence, unless there was such a thing to find."""

    attack: str
    found: tuple[str, ...]


def read_reports(text: str) -> list[Report]:
    """Read what the attacks printed, wherever it stands in an observation."""
    reports = []
    for line in text.splitlines():
        with suppress(ValueError):
            report = json.loads(line)
            if isinstance(report, dict) and "attack" in report:
                reports.append(Report(report["attack"], tuple(report["found"])))
    return reports


def describe_findings(findings: Iterable[Finding]) -> str:
    """Give a line for each."""
    return "\n".join(f"{finding.attack}: {finding.evidence}" for finding in findings)
