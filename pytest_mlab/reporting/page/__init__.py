"""A report as one HTML page that needs nothing else: no network, no file beside it.

``page.html`` is the frame, ``plot.html`` draws a plot as SVG, ``page.css`` and ``page.js`` go into
the page whole. Its content security policy forbids the page to run any other script and to load
anything. Jinja escapes what it is given; `make_visible` takes out what could mislead a reader.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import metadata, resources
from typing import TYPE_CHECKING

from pytest_mlab.reporting.drawing import Plot
from pytest_mlab.reporting.formats import (
    NOTHING,
    format_count,
    format_number,
    format_rate,
    format_seconds,
)
from pytest_mlab.reporting.page.trials import view_trials
from pytest_mlab.reporting.plots import (
    Curve,
    plot_improvements,
    plot_progress,
    plot_success,
    plot_usage,
)
from pytest_mlab.reporting.reading import Session
from pytest_mlab.reporting.summary import Summary, summarise
from pytest_mlab.reporting.table import Table
from pytest_mlab.reporting.visible import make_visible
from pytest_mlab.results import STATUSES, Result, format_improvement

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(sessions: Sequence[Session], tables: Sequence[Table]) -> str:
    """Give the page of some sessions: their tables, plots, and every trial with its trace."""
    results = [result for session in sessions for result in session.results]
    summary = summarise(results, [skip for session in sessions for skip in session.skips])
    trials = list(view_trials(sessions))
    style, script = _read("page.css"), _read("page.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            version=metadata.version("pytest-mlab"),
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            style=style,
            script=script,
            style_digest=_digest(style),
            script_digest=_digest(script),
            sessions=sessions,
            facts=[*_list_verdicts(sessions), *_list_facts(summary)],
            tables=tables,
            plots=_draw(summary, results, [trial.curve for trial in trials]),
            trials=trials,
            statuses=[name for name in STATUSES if summary.total.statuses[name]],
            tasks=sorted({result.task for result in results}),
            subjects=sorted({result.subject for result in results}),
        )
    )


def _list_verdicts(sessions: Sequence[Session]) -> list[tuple[str, str]]:
    verdicts = [session.verdict for session in sessions if session.verdict is not None]
    return [(f"gate {verdict.gate}", verdict.decision) for verdict in verdicts]


def _list_facts(summary: Summary) -> list[tuple[str, str]]:
    total, usage = summary.total, summary.total.usage
    facts = [
        ("trials", f"{total.trials:,}"),
        ("succeeded", f"{total.successes:,}"),
        ("success rate", format_rate(total)),
        ("mean improvement", format_improvement(total.mean_improvement)),
        ("agents' time", format_seconds(total.seconds)),
    ]
    facts += [("tokens", f"{usage.tokens:,}")] if usage.tokens else []
    facts += [("cost", f"{usage.cost_usd:,.2f} USD")] if usage.cost_usd else []
    return facts


def _draw(summary: Summary, results: Sequence[Result], curves: Sequence[Curve]) -> list[Plot]:
    plots = [
        plot_success(summary),
        plot_improvements(results),
        plot_progress(curves),
        plot_usage(summary),
    ]
    return [plot for plot in plots if plot is not None]


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader(__name__, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: make_visible(value) if type(value) is str else value,
    )
    environment.filters |= {
        "count": format_count,
        "improvement": format_improvement,
        "number": format_number,
        "seconds": format_seconds,
    }
    environment.globals["nothing"] = NOTHING
    return environment


def _read(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
