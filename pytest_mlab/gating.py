"""The gate of a session: its trials judged as they end, and the verdict in the exit code.

The controller judges. Where trials run in rounds it writes down, in the session's folder, which
claims are sure; each process looks there before it starts a trial.
"""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.exceptions import UsageError
from pytest_mlab.files import write_atomically
from pytest_mlab.gates import (
    ComparisonGate,
    Gate,
    Judgement,
    References,
    Trial,
    Verdict,
    claim_of,
    judge_trials,
    store_reference,
)
from pytest_mlab.options import locate
from pytest_mlab.reporting.collector import ResultCollector
from pytest_mlab.reporting.reading import read_sessions
from pytest_mlab.results import ERRORS, Identity, Result
from pytest_mlab.settings import Settings
from pytest_mlab.subjects import list_subjects

SURE = "sure.json"
"""Which claims are sure, in the session's folder; there only where trials run in rounds."""

NOT_NEEDED = "not needed: the gate's verdict was sure before"
"""Why a trial was skipped that could not change the verdict any more."""

UNDECIDED = 10
"""The exit code where a gate could not decide; pytest's own end at 6."""


class Gatekeeper:
    """Judges a session by its gate; registered in the controller, after the `ResultCollector`.

    Raises `UsageError` where the gate names results that cannot be compared with.
    """

    def __init__(
        self, config: pytest.Config, gate: Gate, settings: Settings, collector: ResultCollector
    ) -> None:
        self._config = config
        self._gate = gate
        self._per_round = settings.per_round
        self._collector = collector
        self._references = _read_references(config, gate)
        self._errors = 0
        self._sure: dict[str, Any] = {"all": False, "claims": []}
        cache: Any = getattr(config, "cache", None)
        last = config.getoption("lf", False) and cache
        self._failed_last = set(cache.get("cache/lastfailed", {})) if last else set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Refuse to spend anything on trials that cannot be compared."""
        self._check_tasks()

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Refuse the same where only the workers know of tasks."""
        self._check_tasks()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """See, after the collector has, whether a trial has made the verdict sure."""
        yield
        record = getattr(report, "mlab_result", None)
        if report.failed and record is not None:
            self._errors += Result.from_json(record).status in ERRORS
        if self._per_round is not None and report.when in ("teardown", "???"):
            self._spare_trials()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Give the verdict, before the collector writes it down, and let the exit code say it."""
        if not self._collector.planned:
            return
        verdict = self._judge(over=True)
        self._collector.verdict = verdict
        code = session.exitstatus
        # an error of a trial has had its part in the verdict; a failing test of the user's has not
        failed = code == pytest.ExitCode.TESTS_FAILED and session.testsfailed <= self._errors
        if code == pytest.ExitCode.OK or failed:
            codes = {"pass": pytest.ExitCode.OK, "fail": pytest.ExitCode.TESTS_FAILED}
            session.exitstatus = codes.get(verdict.decision, UNDECIDED)

    def _judge(self, *, over: bool) -> Verdict:
        """Judge by the trials that have ended; where the session is ``over``, there are no others.

        Trials of which ``--lf`` ran only those that had failed say nothing about all of them.
        """
        verdict = judge_trials(
            self._gate,
            self._trials(over),
            per_round=self._per_round,
            references=self._references,
        )
        if self._failed_last.isdisjoint(self._collector.planned):
            return verdict
        reason = "--lf ran only what had failed before, which says nothing about all trials"
        return Verdict(
            verdict.gate,
            {
                claim: Judgement("undecided", reason, 0, judgement.evidence)
                for claim, judgement in verdict.claims.items()
            },
        )

    def _trials(self, over: bool) -> list[Trial]:
        results = {result.nodeid: result for result in self._collector.results}
        reasons = {skip.identity.nodeid: skip.reason for skip in self._collector.skips}
        still = set() if over else set(self._collector.not_run)
        trials = []
        for nodeid, identity in self._collector.planned.items():
            if reasons.get(nodeid) == NOT_NEEDED:
                trials.append(Trial(identity, "not needed"))
            elif nodeid in still:
                trials.append(Trial(identity, "open"))
            else:
                trials.append(Trial(identity, "over", results.get(nodeid)))
        return trials

    def _spare_trials(self) -> None:
        """Write down what is sure, for every process to see."""
        verdict = self._judge(over=False)
        sure = {
            "all": verdict.decision != "undecided",
            "claims": [
                [claim.agent, claim.llm, claim.task]
                for claim, judgement in verdict.claims.items()
                if judgement.decision != "undecided"
            ],
        }
        if sure != self._sure:
            self._sure = sure
            write_atomically(self._collector.folder / SURE, json.dumps(sure) + "\n")

    def _check_tasks(self) -> None:
        if self._references is None:
            return
        tasks = {identity.task for identity in self._collector.planned.values()}
        before = {task for reference in self._references.values() for task in reference.look}
        if tasks and tasks.isdisjoint(before):
            raise pytest.UsageError(
                f"--mlab-gate {self._gate.text}: it has trials of {_name(before)}, and what runs "
                f"here is {_name(tasks)}; run one of the former, or name other results"
            )


def is_needed(folder: Path, gate: Gate, identity: Identity) -> bool:
    """Tell whether a trial may still change the verdict; asked before it starts."""
    try:
        sure = json.loads((folder / SURE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return True
    claim = claim_of(gate, identity)
    return not sure["all"] and [claim.agent, claim.llm, claim.task] not in sure["claims"]


def _read_references(config: pytest.Config, gate: Gate) -> References | None:
    """Read what ``no-worse-than`` names; `UsageError` where there is nothing to compare with."""
    if not isinstance(gate, ComparisonGate):
        return None
    path = locate(config, "mlab_gate", gate.path)
    try:
        sessions = read_sessions([path])
    except (UsageError, OSError) as error:
        raise UsageError(f"--mlab-gate no-worse-than: {error}") from None
    references = store_reference(result for each in sessions for result in each.results)
    if not references:
        raise UsageError(f"--mlab-gate no-worse-than: {path}: no trial has a result there")
    subjects = list_subjects(config)
    missing = [subject for subject in subjects if subject not in references]
    if missing and not len(subjects) == len(references) == 1:
        there = ", ".join(_name_subject(subject) for subject in references)
        raise UsageError(
            f"--mlab-gate no-worse-than: {path}: has no trial of {_name_subject(missing[0])}; "
            f"it has trials of {there}"
        )
    return references


def _name_subject(subject: tuple[str, str | None]) -> str:
    return " · ".join(filter(None, subject))


def _name(tasks: set[str]) -> str:
    return ", ".join(sorted(tasks))
