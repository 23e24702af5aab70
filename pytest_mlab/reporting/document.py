"""The results of a session as one JSON document, ``mlab-results/1``."""

import dataclasses
import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from pytest_mlab.exceptions import UsageError
from pytest_mlab.files import write_output
from pytest_mlab.gates import Verdict
from pytest_mlab.reporting.summary import Skip, Summary, Tally
from pytest_mlab.reporting.verdicts import describe_verdict
from pytest_mlab.results import SCHEMA, Result
from pytest_mlab.statistics import CONFIDENCE


def make_document(
    session: str,
    results: Sequence[Result],
    skips: Sequence[Skip],
    not_run: Sequence[str],
    summary: Summary,
    *,
    verdict: Verdict | None = None,
) -> dict[str, Any]:
    """Give the document as JSON values: every result in order of arrival, then the figures."""
    return {
        "schema": SCHEMA,
        "session": session,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "pytest-mlab": metadata.version("pytest-mlab"),
            "pytest": metadata.version("pytest"),
            "python": platform.python_version(),
        },
        "results": [result.to_dict() for result in results],
        "skipped": [dataclasses.asdict(skip.identity) | {"reason": skip.reason} for skip in skips],
        "not_run": list(not_run),
        "gate": None if verdict is None else describe_verdict(verdict),
        "summary": {
            "confidence": CONFIDENCE,
            "total": _figures(summary.total),
            "by_agent": [
                {"agent": row.agent, "llm": row.llm} | _figures(row.tally)
                for row in summary.subjects
            ],
            "by_task": [
                {"task": row.task, "agent": row.agent, "llm": row.llm} | _figures(row.tally)
                for row in summary.rows
            ],
        },
    }


def check_path(flag: str, path: Path) -> None:
    """Refuse a path that no document can be written to, before anything is spent on trials."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error}") from None
    if path.is_dir():
        raise UsageError(f"{flag} {path}: is a folder; name a file")


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document so that a reader finds it whole or not at all; OSError where that fails."""
    write_output(path, json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def _figures(tally: Tally) -> dict[str, Any]:
    return {
        "trials": tally.trials,
        "successes": tally.successes,
        "rate": tally.rate,
        "interval": list(tally.interval),
        "mean_improvement": tally.mean_improvement,
        "valid": tally.valid,
        "invalid": tally.invalid,
        "tampered": tally.tampered,
        "errors": tally.errors,
        "flagged": tally.flagged,
        "skipped": tally.skipped,
        "statuses": dict(tally.statuses),
        "mean_steps": tally.mean_steps,
        "mean_seconds": tally.mean_seconds,
        "seconds": tally.seconds,
        "usage": dataclasses.asdict(tally.usage),
    }
