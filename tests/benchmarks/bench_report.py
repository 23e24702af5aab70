"""What a report takes: 5,000 results in every format, and a page of 100 trials x 50 steps.

``python -m tests.benchmarks.bench_report``. To be reached: 5 s and 300 MB for 5,000 results; 2 s
until the page has opened in a headless Chromium, from navigation to the end of loading.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.benchmarks.measure import run_once
from tests.reporting.sessions import make_trials, write_session

if TYPE_CHECKING:
    from playwright.sync_api import Page

TASKS = [f"task-{number}" for number in range(13)]
AGENTS = [f"agent-{number}" for number in range(7)]
ROUNDS = 5


def main() -> None:
    """Print a line for each measurement."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many = list(make_trials(TASKS, AGENTS, 55))[:5000]
        write_session(folder / "many", many, 10, traced=1000)
        for form in ("text", "markdown", "csv", "trials", "html"):
            report(folder, "many", form, f"{len(many):,} results")
        few = list(make_trials(TASKS[:5], AGENTS[:4], 5))
        write_session(folder / "few", few, 50, history=True)
        report(folder, "few", "html", f"{len(few)} trials x 50 steps")
        for each in ("few", "many"):
            taken = open_page(folder / f"{each}.html")
            print(f"Chromium, {each}: " + ", ".join(f"{k} {v:.3f} s" for k, v in taken.items()))


def report(folder: Path, records: str, form: str, what: str) -> None:
    """Make a report in a fresh process, and print what that takes."""
    output = folder / f"{records}.{form}"
    command = [sys.executable, "-m", "pytest_mlab", "report", str(folder / records)]
    run = run_once([*command, "--format", form, "-o", str(output)], folder)
    written = output.stat().st_size / 1e6
    print(f"{what} as {form}: {run.seconds:.2f} s, {run.memory:.0f} MB, {written:.1f} MB written")


def open_page(file: Path) -> dict[str, float]:
    """Give the median seconds that Chromium takes to open a page, a trial, a step, and to sort."""
    from playwright.sync_api import sync_playwright

    taken: dict[str, list[float]] = {"open": [], "open a trial": [], "next step": [], "sort": []}
    with sync_playwright() as session:
        program = shutil.which("chromium")
        browser = session.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(ROUNDS):
            page = browser.new_page()

            def clock(name: str, act: Callable[[], object], page: "Page" = page) -> None:
                start = time.perf_counter()
                act()
                page.evaluate("new Promise(requestAnimationFrame)")
                taken[name].append(time.perf_counter() - start)

            clock("open", partial(page.goto, file.as_uri(), wait_until="load"))
            clock("open a trial", page.locator(".open").nth(20).click)
            clock("next step", partial(page.keyboard.press, "ArrowRight"))
            page.keyboard.press("Escape")
            clock("sort", page.locator("#list thead button").nth(5).click)
            page.close()
        browser.close()
    return {name: round(median(seconds), 3) for name, seconds in taken.items()}


if __name__ == "__main__":
    main()
