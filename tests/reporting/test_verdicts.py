"""A gate's verdict comes back from disk as it was, and heads every report."""

import json
from pathlib import Path

from pytest_mlab.gates import Claim, Evidence, Judgement, Verdict
from pytest_mlab.reporting.document import make_document, write_document
from pytest_mlab.reporting.page import render_page
from pytest_mlab.reporting.reading import Session, read_sessions
from pytest_mlab.reporting.rendering import render_markdown, render_text
from pytest_mlab.reporting.report import make_report
from pytest_mlab.reporting.summary import summarise
from pytest_mlab.reporting.verdicts import advise, describe_verdict, read_verdict
from tests.projects import Project
from tests.reporting.builders import make_results

OPEN = Verdict(
    "rate>=0.375",
    {
        Claim("hillclimb", None): Judgement(
            "undecided", "5 of 8 does not show it", 1, Evidence(5, 2, 1), 4
        ),
        Claim("research", "gpt-4"): Judgement("pass", "8 of 8 do", 1, Evidence(8)),
    },
    ("cora was left out",),
    3,
)


def test_a_verdict_comes_back_from_json() -> None:
    assert read_verdict(json.loads(json.dumps(describe_verdict(OPEN)))) == OPEN


def test_what_would_decide_is_said() -> None:
    assert advise(OPEN) == "about 4 more trials would decide, were the rate to stay"


def test_the_verdict_is_the_first_table_in_every_format(tmp_path: Path) -> None:
    results = make_results("SSSSSBBB")
    document = make_document("one", results, [], [], summarise(results), verdict=OPEN)
    write_document(tmp_path / "one.json", document)
    sessions = read_sessions([tmp_path / "one.json"])

    tables = make_report(sessions)

    assert tables[0].title == "Gate rate>=0.375: UNDECIDED"
    assert tables[0].rows == (
        ("hillclimb", "undecided", "5", "2", "1"),
        ("research · gpt-4", "pass", "8", "0", "0"),
    )
    assert tables[0].notes == (
        "hillclimb: 5 of 8 does not show it",
        "research · gpt-4: 8 of 8 do",
        "about 4 more trials would decide, were the rate to stay",
        "3 trials not needed",
        "cora was left out",
    )
    assert render_text(tables).startswith("Gate rate>=0.375: UNDECIDED\n")
    assert render_markdown(tables).startswith("### Gate rate&gt;=0.375: UNDECIDED\n")
    assert "<dt>gate rate&gt;=0.375</dt><dd>undecided</dd>" in render_page(sessions, tables)


def test_of_several_sessions_each_verdict_says_whose_it_is() -> None:
    results = tuple(make_results("SB"))
    sessions = [Session(name, results, (), 0, verdict=OPEN) for name in ("monday", "tuesday")]

    titles = [table.title for table in make_report(sessions)]

    assert titles[:2] == [f"Gate rate>=0.375: UNDECIDED ({day})" for day in ("monday", "tuesday")]


def test_the_page_of_a_session_has_the_verdict_of_its_gate(project: Project) -> None:
    project.task("easy")

    project.run(
        "tasks", "--mlab-agent=agents:solve", "--mlab-gate=rate>=0.5,point", "--mlab-html=page.html"
    )

    page = (project.path / "page.html").read_text(encoding="utf-8")
    assert "<bdi>Gate rate&gt;=0.5,point: PASS</bdi>" in page
