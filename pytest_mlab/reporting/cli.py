"""The command ``pytest-mlab``, also ``python -m pytest_mlab``: reports from results on disk."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_mlab.exceptions import MlabError, UsageError
from pytest_mlab.files import write_atomically
from pytest_mlab.reporting.export import export_rates, export_trials
from pytest_mlab.reporting.reading import Session, read_sessions
from pytest_mlab.reporting.rendering import render_markdown, render_text
from pytest_mlab.reporting.report import make_report
from pytest_mlab.reporting.summary import summarise

FORMATS = ("text", "markdown", "csv", "trials")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit code: 0, or 2 with a message where the input is wrong."""
    options = _parser().parse_args(arguments)
    try:
        text = _render(options.format, read_sessions(options.results), options.against)
        if options.output is None:
            sys.stdout.write(text)
        else:
            write_atomically(options.output, text)
    except (MlabError, OSError) as error:
        print(f"pytest-mlab: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pytest-mlab", description="Reports of pytest-mlab's results.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    report = commands.add_parser(
        "report",
        help="make tables from the results of one or many sessions",
        description="Make tables from the results of one or many sessions, taken together.",
        epilog="example: pytest-mlab report .mlab --format markdown >> $GITHUB_STEP_SUMMARY",
    )
    report.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULTS",
        help="a file written by --mlab-json, a session's folder of records, or a folder of either",
    )
    report.add_argument(
        "--against",
        nargs="+",
        type=Path,
        metavar="RESULTS",
        default=[],
        help="compare with these results, task by task",
    )
    report.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="csv: a line for each task, agent and LLM; trials: CSV with a line for each trial",
    )
    report.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")
    return parser


def _render(form: str, sessions: Sequence[Session], against: Sequence[Path]) -> str:
    results = [result for session in sessions for result in session.results]
    if not results:
        raise UsageError("no trial has a result there")
    if form == "trials":
        return export_trials(results)
    if form == "csv":
        return export_rates(
            summarise(results, [skip for session in sessions for skip in session.skips])
        )
    tables = make_report(sessions, read_sessions(against))
    return render_markdown(tables) if form == "markdown" else render_text(tables)
