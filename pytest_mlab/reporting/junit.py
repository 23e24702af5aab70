"""The figures in the JUnit file: properties of each test case and of the suite."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from pytest_mlab.gates import Verdict
from pytest_mlab.reporting.summary import Summary
from pytest_mlab.results import Result
from pytest_mlab.runs import TRACE

if TYPE_CHECKING:
    import pytest

Scalar = str | int | float | bool


def junit_properties(result: Result) -> list[tuple[str, Scalar]]:
    """Give a trial's properties; what the trial has no value for is left out.

    The plugin appends them to ``item.user_properties``, so they are builtin scalars only: pytest
    sends them between processes, and anything else there ends the whole session.
    """
    usage = result.usage
    return _properties(
        {
            "task": result.task,
            "agent": result.agent,
            "llm": result.llm,
            "trial": result.trial,
            "seed": result.seed,
            "task_digest": result.task_digest,
            "status": result.status,
            "stop": result.stop,
            "success": result.success,
            "valid": result.valid,
            "metric": result.metric or None,
            "score": result.score,
            "baseline": result.baseline,
            "improvement": result.improvement,
            "best_score": result.best_score,
            "threshold": result.threshold,
            "steps": result.steps,
            "seconds": result.seconds,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "cost_usd": usage.cost_usd,
            "detail": result.detail or None,
            "flags": "; ".join(result.flags) or None,
            "folder": result.folder or None,
            "trace": str(Path(result.folder) / TRACE) if result.folder else None,
            "resumed": result.resumed or None,
        }
    )


def suite_properties(summary: Summary, not_run: int = 0) -> list[tuple[str, Scalar]]:
    """Give the suite's properties: the success rate, its interval and what it was made of."""
    total = summary.total
    low, high = total.interval
    return _properties(
        {
            "trials": total.trials,
            "successes": total.successes,
            "success_rate": total.rate,
            "success_rate_low": low,
            "success_rate_high": high,
            "mean_improvement": total.mean_improvement,
            "valid": total.valid,
            "invalid": total.invalid,
            "tampered": total.tampered,
            "errors": total.errors,
            "flagged": total.flagged,
            "skipped": total.skipped,
            "not_run": not_run,
            "seconds": total.seconds,
            "input_tokens": total.usage.input_tokens,
            "output_tokens": total.usage.output_tokens,
            "cached_tokens": total.usage.cached_tokens,
            "cost_usd": total.usage.cost_usd,
        }
    )


def gate_properties(verdict: Verdict) -> list[tuple[str, Scalar]]:
    """Give the suite's properties of the gate."""
    return _properties(
        {
            "gate": verdict.gate,
            "gate_verdict": verdict.decision,
            "gate_reason": verdict.reason,
            "gate_more_trials": verdict.more,
            "gate_not_needed": verdict.not_needed,
        }
    )


class JUnitFile:
    """The JUnit file that pytest is going to write, where ``--junitxml`` asks for one."""

    def __init__(self, config: "pytest.Config") -> None:
        from _pytest.junitxml import xml_key  # pytest offers no public way to it

        self._xml = config.stash.get(xml_key, None)
        self._root = config.rootpath

    def describe_case(self, report: "pytest.TestReport", result: Result) -> None:
        """Add a trial's properties to a test case whose worker could not report them."""
        if self._xml is not None:
            case = self._xml.node_reporter(report)
            for name, value in junit_properties(result):
                case.add_property(name, _show(value))

    def attach_trace(self, report: "pytest.TestReport", result: Result) -> None:
        """Attach a trial's trace to its test case, in the form that Jenkins and GitLab know.

        The path is seen from the root folder, which CI jobs run in, where the trace is below it.
        """
        if self._xml is None or not result.folder:
            return
        trace = Path(result.folder) / TRACE
        if trace.is_relative_to(self._root):
            trace = trace.relative_to(self._root)
        output = Element("system-out")
        output.text = f"[[ATTACHMENT|{trace}]]"
        self._xml.node_reporter(report).append(output)

    def describe_gate(self, verdict: Verdict) -> None:
        """Add the gate's verdict: properties of the suite, and a test case of its own.

        The case fails unless the gate passes, so that whoever reads the file alone sees it.
        """
        if self._xml is None:
            return
        import pytest

        for name, value in gate_properties(verdict):
            self._xml.add_global_property(name, _show(value))
        passed = verdict.decision == "pass"
        report = pytest.TestReport(
            nodeid=f"pytest_mlab::gate[{verdict.gate}]",
            location=("pytest_mlab", None, "gate"),
            keywords={},
            outcome="passed" if passed else "failed",
            longrepr=None if passed else f"{verdict.decision}: {verdict.reason}",
            when="call",
        )
        self._xml.pytest_runtest_logreport(report)
        report.outcome, report.when = "passed", "teardown"
        self._xml.pytest_runtest_logreport(report)

    def describe_suite(self, summary: Summary, not_run: int) -> None:
        """Add the suite's properties; to be called before pytest writes the file."""
        if self._xml is not None:
            for name, value in suite_properties(summary, not_run):
                self._xml.add_global_property(name, _show(value))


def _properties(values: dict[str, Any]) -> list[tuple[str, Scalar]]:
    return [(f"mlab.{name}", value) for name, value in values.items() if value is not None]


def _show(value: Scalar) -> str:
    return str(value)
