"""A real browser, and reports opened in it; without one these tests are skipped, which is said."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_mlab.reporting.page import render_page
from pytest_mlab.reporting.reading import read_sessions
from pytest_mlab.reporting.report import make_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
Open = Callable[..., "Page"]


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Start a headless Chromium, the system's own."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: run tox -e browser"
    )
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with playwright.sync_playwright() as session:
        # as root, Chromium has no sandbox of its own
        browser = session.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_report(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Make a report of a folder and open it from disk; errors of the page fail the test."""
    contexts, errors = [], []

    def open_it(
        folder: Path, *, scheme: Literal["light", "dark"] = "light", width: int = 1280
    ) -> "Page":
        sessions = read_sessions([folder])
        file = tmp_path / "report.html"
        file.write_text(render_page(sessions, make_report(sessions)), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: errors.append(request.url) if _leaves(request) else None)
        page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
        page.goto(file.as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert errors == []


def _leaves(request: object) -> bool:
    return not str(getattr(request, "url", "")).startswith("file:")
