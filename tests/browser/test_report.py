"""The report in a real browser: what a reader does with it, and what an agent cannot."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_mlab import runs
from pytest_mlab.reporting.document import make_document, write_document
from pytest_mlab.reporting.summary import summarise
from pytest_mlab.trace import Trace
from tests.browser.conftest import Open
from tests.reporting.builders import make_result
from tests.reporting.sessions import make_trials, write_session

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STEPS = 6


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of three tasks and two agents, five trials each, with records."""
    trials = list(make_trials(["digits", "diabetes", "house-price"], ["research", "tools"], 5))
    folder = tmp_path_factory.mktemp("records") / "session"
    return write_session(folder, trials, STEPS, history=True)


def column(page: "Page", number: int) -> list[str]:
    """Give the text of a column of the trials that are shown."""
    cells = page.locator(f"#list tbody tr:not([hidden]) > :nth-child({number})")
    return [text.strip() for text in cells.all_text_contents()]


def test_trials_are_sorted_by_any_column(open_report: Open, session: Path) -> None:
    page = open_report(session)
    header = page.locator("#list thead th:nth-child(6)")
    button = page.locator("#list thead button", has_text="improvement")

    button.click()
    rising = column(page, 6)
    assert header.get_attribute("aria-sort") == "ascending"
    button.click()
    falling = column(page, 6)

    def figures(texts: list[str]) -> list[float]:
        return [float(text.removesuffix(" %")) for text in texts if text != "–"]

    assert figures(rising) == sorted(figures(rising))
    assert figures(falling) == sorted(figures(falling), reverse=True)
    assert rising[-1] == falling[-1] == "–", "trials without a figure come last either way"
    assert header.get_attribute("aria-sort") == "descending"


def test_trials_are_filtered(open_report: Open, session: Path) -> None:
    page = open_report(session)

    page.locator("select[name=task]").select_option("diabetes")
    page.locator("select[name=status]").select_option("success")
    assert set(column(page, 2)) == {"success"}
    assert all(text.startswith("diabetes") for text in column(page, 1))
    assert page.locator("#shown").text_content() == f"{len(column(page, 1))} of 30 trials"

    page.locator("select[name=status]").select_option("")
    page.get_by_role("searchbox").fill("97 ROWS")
    detail = "submission.csv has 97 rows, not 600"
    assert set(column(page, 2)) <= {
        f"{status}{detail}" for status in ("invalid-submission", "no-submission", "agent-error")
    }
    assert column(page, 2)

    page.get_by_role("searchbox").fill("no such thing")
    assert column(page, 1) == []
    assert page.locator("#shown").text_content() == "0 of 30 trials"


def test_a_trial_is_read_step_by_step_with_the_keyboard_alone(
    open_report: Open, session: Path
) -> None:
    page = open_report(session)
    first = page.locator(".open").first
    first.focus()
    page.keyboard.press("Enter")

    dialog = page.get_by_role("dialog")
    assert dialog.is_visible()
    announced = page.locator("#announced")
    assert (announced.text_content() or "").startswith(f"Step 1 of {STEPS}")
    assert "Perhaps parameter 0" in (dialog.text_content() or "")
    assert "+parameter_0 = 1000" in (dialog.text_content() or "")

    page.keyboard.press("ArrowRight")
    assert "Execute Script" in (dialog.text_content() or "")
    assert "validation accuracy: 0.9134" in (dialog.text_content() or "")
    page.keyboard.press("End")
    assert (announced.text_content() or "").startswith(f"Step {STEPS} of {STEPS}")
    page.keyboard.press("ArrowRight")
    assert (announced.text_content() or "").startswith(f"Step {STEPS} of {STEPS}")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    assert (announced.text_content() or "").startswith(f"Step 1 of {STEPS}")

    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert first.evaluate("element => element === document.activeElement")


def test_an_address_leads_to_a_step(open_report: Open, session: Path) -> None:
    page = open_report(session)

    page.goto(f"{page.url}#trial-3/5")

    assert (page.locator("#announced").text_content() or "").startswith("Step 5 of")
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**#trial-3/6")
    page.get_by_role("button", name="Close").click()
    page.wait_for_url("**/report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_it_fits_and_can_be_read_in_both_schemes(
    open_report: Open, session: Path, scheme: str, width: int
) -> None:
    page = open_report(session, scheme=scheme, width=width)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[scheme]
    text = page.locator(".plot text").first
    assert text.evaluate("element => getComputedStyle(element).fill") != ground
    height = text.evaluate("element => element.getBoundingClientRect().height")
    assert height >= 8, "text of plots can be read"

    def faults() -> list[str]:
        violations = axe.run(page).response["violations"]
        return [f"{each['id']}: {node['html']}" for each in violations for node in each["nodes"]]

    assert faults() == []
    page.locator(".open").first.click()
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= width
    assert faults() == []


EVIL = [
    "<script>window.caught = 1; alert(1)</script>",
    "</script><script>window.caught = 1</script>",
    "<!--<script>window.caught = 1",
    "<img src=x onerror='window.caught = 1'>",
    '" onmouseover="window.caught = 1" autofocus onfocus="window.caught = 1" x="',
    "</title></style></textarea><svg onload='window.caught = 1'>",
    "</pre><base href='https://example.org/'>",
    "__proto__",
    "\x1b[31mred\x1b[0m\x1b]8;;javascript:alert(1)\x07",
    "abc\u202etxt.exe\u2066\u200b",
    "half a pair: \ud800, and none: \x00\u2028\u2029",
    "long " * 200_000,
]


def test_nothing_that_an_agent_writes_does_anything(open_report: Open, tmp_path: Path) -> None:
    folder = tmp_path / "records" / "session"
    trials = []
    for number, evil in enumerate(EVIL):
        short = evil[:200]
        trial = make_result(
            "agent-error", trial=number, task=f"task {short}", agent=short, nodeid=f"[{number}]"
        )
        runs.write_plan(folder, [trial]) if not number else None
        place = runs.open_folder(folder, trial)
        trace = Trace(place / runs.TRACE)
        trace.append("note", **{evil: evil})
        trace.append("step", action=evil, arguments={evil: evil}, observation=evil, ok=False)
        trace.append("end", stop="crashed", crash=evil)
        trace.close()
        trials.append(
            make_result(**vars(trial) | {"detail": short, "flags": (short,), "folder": str(place)})
        )
    document = make_document("session", trials, [], [], summarise(trials))
    write_document(folder / runs.RESULTS, document)

    page = open_report(folder)

    assert page.locator("#list tbody tr").count() == len(EVIL)
    for number in range(len(EVIL)):
        page.locator(f".open[data-trial='{number}']").click()
        assert page.locator("#content pre").count() >= 4
        page.mouse.move(300, 300)
        page.keyboard.press("Escape")
    assert page.evaluate("window.caught") is None
    assert page.locator("base, img, iframe").count() == 0
    assert page.locator("script:not([type])").count() == 1
    page.locator(".open[data-trial='2']").click()
    assert page.locator("#content pre").nth(-2).text_content() == EVIL[2]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_without_its_script_the_page_still_shows_everything(
    browser: "Browser", open_report: Open, session: Path, tmp_path: Path
) -> None:
    open_report(session)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())

    assert page.locator("#list tbody tr").count() == 30
    assert page.get_by_text("allow this page its script").is_visible()
    context.close()
