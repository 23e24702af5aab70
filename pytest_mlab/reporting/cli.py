"""The command ``pytest-mlab``, also ``python -m pytest_mlab``: reports from results on disk."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_mlab.exceptions import MlabError, UsageError
from pytest_mlab.files import write_output
from pytest_mlab.reporting.export import export_rates, export_trials
from pytest_mlab.reporting.page import render_page
from pytest_mlab.reporting.reading import read_sessions
from pytest_mlab.reporting.rendering import render_markdown, render_text
from pytest_mlab.reporting.report import make_report
from pytest_mlab.reporting.summary import summarise

FORMATS = ("text", "markdown", "html", "csv", "trials")
SUFFIXES = {".md": "markdown", ".html": "html", ".htm": "html", ".csv": "csv"}
"""What the name of the output says of the format, where that is not given."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit code: 0, or 2 with a message where the input is wrong."""
    options = _parser().parse_args(arguments)
    try:
        text = _render(options)
        if options.output is None:
            sys.stdout.write(text)
        else:
            write_output(options.output, text)
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
        epilog="examples: pytest-mlab report .mlab -o report.html; "
        "pytest-mlab report .mlab --format markdown >> $GITHUB_STEP_SUMMARY",
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
        help="html: one page with plots and every trial's steps; csv: a line for each task, agent "
        "and LLM; trials: CSV with a line for each trial (default: as FILE's name says, else text)",
    )
    report.add_argument(
        "--published",
        action="store_true",
        help="show the paper's figures beside those measured",
    )
    report.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file (default: print)"
    )
    return parser


def _render(options: argparse.Namespace) -> str:
    sessions = read_sessions(options.results)
    form = options.format or SUFFIXES.get(getattr(options.output, "suffix", ""), "text")
    results = [result for session in sessions for result in session.results]
    if not results:
        raise UsageError("no trial has a result there")
    if form in ("csv", "trials") and (options.against or options.published):
        raise UsageError("--against and --published go with text, markdown and html, not with CSV")
    if form == "trials":
        return export_trials(results)
    if form == "csv":
        return export_rates(
            summarise(results, [skip for session in sessions for skip in session.skips])
        )
    against = read_sessions(options.against)
    tables = make_report(sessions, against, published=options.published)
    if form == "html":
        return render_page(sessions, tables)
    return render_markdown(tables) if form == "markdown" else render_text(tables)
