"""`--mlab-html` leaves the page at the end of a session, however the session was run."""

from pathlib import Path

from tests.projects import Project
from tests.reporting.test_page import Page


def test_a_session_leaves_its_page(project: Project, plugin_args: tuple[str, ...]) -> None:
    project.task("easy")

    run = project.run(*plugin_args, "--mlab-agent=solution", "--mlab-html=out/page.html", "tasks")

    run.assert_outcomes(passed=1)
    run.stdout.fnmatch_lines(["results: .mlab/*", "page: *out/page.html"])
    page = Page((project.path / "out" / "page.html").read_text(encoding="utf-8"))
    (trial,) = page.data
    assert trial["title"] == "easy · solution · trial 1"
    assert trial["steps"][-1]["action"] == "Final Answer"
    assert page.shows("1/1 100 % [21, 100]")


def test_a_session_in_which_nothing_could_start_has_a_page_too(project: Project) -> None:
    project.task("needy", resources={"requires": ["no-such-package"]})

    run = project.run("--mlab-agent=solution", "--mlab-html=page.html", "tasks")

    run.assert_outcomes(skipped=1)
    assert Page((project.path / "page.html").read_text(encoding="utf-8")).data == []


def test_a_place_that_cannot_be_written_to_is_refused_before_anything_runs(
    project: Project,
) -> None:
    project.task("easy")

    assert project.refuse("--mlab-html=.", "tasks").endswith("is a folder; name a file")


def test_a_page_that_fails_takes_nothing_else_with_it(project: Project) -> None:
    project.task("easy")
    project.write(
        "conftest.py",
        "import shutil, pathlib\n"
        "def pytest_mlab_trial_finished(config, result):\n"
        "    pathlib.Path('out').rmdir()\n"
        "    pathlib.Path('out').write_text('in the way')\n",
    )

    run = project.run(
        *("-p", "no:xdist", "--mlab-agent=solution", "tasks"),
        *("--mlab-html=out/page.html", "--mlab-json=results.json", "--junitxml=report.xml"),
    )

    run.stdout.fnmatch_lines(["page not written: *Error: *out*"])
    assert run.ret == 3
    assert all((project.path / name).is_file() for name in ("results.json", "report.xml"))
    assert Path(project.path / "out").read_text() == "in the way"
