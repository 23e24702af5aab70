"""The HTML page: complete in itself, and nothing that an agent writes gets out of its place."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mlab import runs
from pytest_mlab.reporting.cli import main
from pytest_mlab.reporting.page import render_page
from pytest_mlab.reporting.page.trials import view_trials
from pytest_mlab.reporting.reading import Session, read_sessions
from pytest_mlab.reporting.report import make_report
from pytest_mlab.results import Result, Usage
from pytest_mlab.trace import Trace
from tests.reporting.builders import make_result, make_results, results
from tests.reporting.test_reading import plan_session


class Page(HTMLParser):
    """What a browser makes of the page: elements, attributes, and the text in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.elements[-1][0], data.strip()))

    def shows(self, text: str) -> bool:
        """Tell whether a text is shown, within any element but scripts."""
        return any(text in shown for tag, shown in self.texts if tag not in ("script", "style"))

    @property
    def data(self) -> list[dict[str, Any]]:
        """What the page's script reads of each trial."""
        return [json.loads(text) for tag, text in self.texts if tag == "script" and text[0] == "{"]


def render(*trials: Result, **session: Any) -> str:
    sessions = [Session("one", trials, (), 0, **session)]
    return render_page(sessions, make_report(sessions))


def record(folder: Path, trial: Result, **step: Any) -> Path:
    """Leave the records of a session of one trial that took one step."""
    session = plan_session(folder, [trial])
    place = runs.open_folder(session, trial)
    trace = Trace(place / runs.TRACE)
    trace.append("note", Thought=step.get("observation", "think"))
    trace.append("step", **{"action": "List Files", "arguments": {}, "observation": ""} | step)
    trace.close()
    runs.record_result(place, dataclasses.replace(trial, folder=trial.folder or str(place)))
    return session


def test_it_shows_every_table_and_every_trial() -> None:
    trials = [*make_results("SSSBBINH"), make_result(task="vectorization", detail="so-so")]
    page = Page(render(*trials))

    for table in make_report([Session("one", tuple(trials), (), 0)]):
        for text in (table.title, *table.columns, *(cell for row in table.rows for cell in row)):
            assert page.shows(text), text
    assert page.shows("so-so")
    assert len(page.data) == len(trials)


def test_it_needs_nothing_but_itself() -> None:
    text = render(*make_results("SB", detail="see https://example.org/x.js"))
    page = Page(text)

    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form[action]")
        assert not {"src", "srcset", "action", "style", "background"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    assert "@import" not in text
    assert "url(" not in text
    (policy,) = [
        attributes["content"]
        for tag, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


EVIL = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "' autofocus onfocus='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "&lt;b&gt; &amp;",
    "one\u2028two\u2029",
]


@pytest.mark.parametrize("evil", EVIL)
def test_text_of_an_agent_stays_text(tmp_path: Path, evil: str) -> None:
    trial = make_result(
        "invalid-submission", task=evil, agent=evil, llm=evil, detail=evil, flags=(evil,)
    )
    arguments = {evil: evil}
    record(tmp_path / "s", trial, action=evil, arguments=arguments, observation=evil)
    (session,) = read_sessions([tmp_path])
    harmless = Page(render(*session.results[:0], folder=session.folder))

    page = Page(render_page([session], make_report([session])))

    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in harmless.elements} | {
        *("bdi", "button", "circle", "path", "script", "span", "td", "tr", "th", "title", "text"),
        *("option", "tbody", "p", "div", "figure", "figcaption", "svg"),
    }
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    assert [each for each in scripts if not each] == [{}]
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "autofocus"]
    (shown,) = page.data
    seen = evil.replace("\u2028", "⟨U+2028⟩").replace("\u2029", "⟨U+2029⟩")
    assert shown["steps"][0]["output"] == shown["steps"][0]["action"] == seen
    assert shown["steps"][0]["arguments"] == {seen: seen}
    assert page.shows(seen)


@given(st.lists(results(), min_size=1, max_size=4))
@example([make_result(usage=Usage(cost_usd=5e-324))])
@settings(max_examples=25)
def test_any_result_can_be_shown(trials: list[Result]) -> None:
    text = render(*trials)

    text.encode("utf-8")
    assert len(Page(text).data) == len(trials)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)


def test_records_are_found_where_the_session_was_moved_to(tmp_path: Path) -> None:
    trial = make_result(folder=str(tmp_path / "gone" / "x"))
    session = record(tmp_path / "s", trial, observation="a.py")
    place = next(session.glob("*/"))
    moved = make_result(folder=str(tmp_path / "elsewhere" / place.name))
    runs.record_result(place, moved)

    (viewed,) = view_trials(read_sessions([session]))

    assert viewed.records == place
    assert viewed.data["steps"][0]["output"] == "a.py"


def test_a_trace_that_is_not_at_hand_is_said(tmp_path: Path) -> None:
    (viewed,) = view_trials([Session("one", (make_result(folder=str(tmp_path)),), (), 0)])

    assert viewed.data["problem"].startswith("The trace is not here")
    assert viewed.data["steps"] == []


def test_traces_beyond_the_limit_stay_in_the_records(tmp_path: Path) -> None:
    trials = [make_result(trial=n, folder="") for n in range(3)]
    session = plan_session(tmp_path / "s", trials)
    for trial in trials:
        place = runs.open_folder(session, trial)
        runs.record_result(place, make_result(trial=trial.trial, folder=str(place)))
        trace = Trace(place / runs.TRACE)
        trace.append("step", action="List Files", arguments={}, observation="x" * 100)
        trace.close()

    views = list(view_trials(read_sessions([session]), most=150))

    assert [len(view.data["steps"]) for view in views] == [1, 1, 0]
    assert "too much for one page" in views[2].data["problem"]


def test_the_command_makes_it_and_the_name_of_the_file_says_so(tmp_path: Path) -> None:
    record(tmp_path / "s", make_result())

    assert main(["report", str(tmp_path / "s"), "-o", str(tmp_path / "report.html")]) == 0

    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
