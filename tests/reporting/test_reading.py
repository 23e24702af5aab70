"""Results come back from documents and folders, each session once, and damage is said."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mlab import runs
from pytest_mlab.exceptions import UsageError
from pytest_mlab.reporting.document import make_document, write_document
from pytest_mlab.reporting.reading import read_sessions
from pytest_mlab.reporting.report import make_report
from pytest_mlab.reporting.summary import Skip, summarise
from pytest_mlab.results import Result
from tests.projects import Project
from tests.reporting.builders import make_identity, make_results


def write(path: Path, trials: list[Result], session: str = "one", unfinished: int = 0) -> Path:
    skips = [Skip(make_identity("cifar10"), "needs torch")]
    not_run = [f"tasks/{n}" for n in range(unfinished)]
    write_document(path, make_document(session, trials, skips, not_run, summarise(trials, skips)))
    return path


def test_a_document_comes_back_without_loss(tmp_path: Path) -> None:
    trials = make_results("SBINAPH")

    (session,) = read_sessions([write(tmp_path / "results.json", trials, unfinished=2)])

    assert session.results == tuple(trials)
    assert session.skips == (Skip(make_identity("cifar10"), "needs torch"),)
    assert (session.name, session.unfinished) == ("one", 2)


def test_a_session_named_twice_is_counted_once(tmp_path: Path) -> None:
    trials = make_results("SB")
    write(tmp_path / "one" / "results.json", trials)
    copy = write(tmp_path / "copy.json", trials)

    sessions = read_sessions([tmp_path, copy, tmp_path / "one"])

    assert [len(session.results) for session in sessions] == [2]


def test_a_folder_is_searched_for_sessions_and_documents(tmp_path: Path) -> None:
    write(tmp_path / "job-a/results.json", make_results("S"), "a")
    write(tmp_path / "job-b/any-name.json", make_results("B"), "b")
    (tmp_path / "job-b/other.json").write_text('{"schema": "other"}')
    (tmp_path / "job-b/binary.json").write_bytes(b"\xff\xfe\x00")

    assert [session.name for session in read_sessions([tmp_path])] == ["a", "b"]


def plan_session(folder: Path, trials: list[Result]) -> Path:
    runs.write_plan(folder, trials)
    return folder


def test_a_killed_session_is_read_from_its_records(tmp_path: Path) -> None:
    trials = make_results("SBI")
    folder = plan_session(tmp_path / "killed", trials)
    for trial in trials[:2]:
        runs.record_result(runs.open_folder(folder, trial), trial)

    (session,) = read_sessions([tmp_path])

    assert sorted(session.results, key=lambda result: result.trial) == trials[:2]
    assert (session.name, session.unfinished) == ("killed", 1)


def test_what_an_agent_writes_into_its_workspace_is_no_result(tmp_path: Path) -> None:
    trials = make_results("B")
    folder = plan_session(tmp_path / "session", trials)
    trial = runs.open_folder(folder, trials[0])
    runs.record_result(trial, trials[0])
    write(trial / runs.WORKSPACE / "results.json", make_results("SSSS"), "forged")
    runs.record_result(trial / runs.WORKSPACE, make_results("S")[0])

    assert [session.results for session in read_sessions([tmp_path])] == [tuple(trials)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": "mlab-results/2"}', "schema is 'mlab-results/2', and this version reads"),
        ('{"results": []}', "schema is None"),
        ("[]", "schema is None"),
        ('{"schema": "mlab-results/1", "resu', "cannot be read as JSON"),
        ("", "cannot be read as JSON"),
        ('{"schema": "mlab-results/1"}', "is damaged"),
    ],
)
def test_a_damaged_or_foreign_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)

    with pytest.raises(UsageError, match=f"results.json: .*{message}"):
        read_sessions([path])


def test_a_result_with_a_key_missing_is_damage(tmp_path: Path) -> None:
    path = write(tmp_path / "results.json", make_results("S"))
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["results"][0]["status"]
    path.write_text(json.dumps(document))

    with pytest.raises(UsageError, match=r"results\.json: is damaged .*status"):
        read_sessions([path])


def test_a_folder_without_results_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results of pytest-mlab here"):
        read_sessions([tmp_path])


def test_a_path_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.json: does not exist"):
        read_sessions([tmp_path / "missing.json"])


def test_a_result_that_a_later_session_took_over_is_counted_once(tmp_path: Path) -> None:
    first, second = make_results("SB")
    again = dataclasses.replace(first, resumed="one")
    write(tmp_path / "one.json", [first], "one")
    resumed = write(tmp_path / "two.json", [again, second], "two")

    assert [session.results for session in read_sessions([tmp_path])] == [(first,), (second,)]
    assert [session.results for session in read_sessions([resumed])] == [(again, second)]


def test_a_session_whose_results_are_damaged_is_read_from_its_records(tmp_path: Path) -> None:
    trials = make_results("SB")
    folder = plan_session(tmp_path / "session", trials)
    for trial in trials:
        runs.record_result(runs.open_folder(folder, trial), trial)
    whole = write(folder / runs.RESULTS, trials, "session").read_text(encoding="utf-8")
    (folder / runs.RESULTS).write_text(whole[:500], encoding="utf-8")

    with pytest.raises(UsageError, match="move it away, and the records of its trials are read"):
        read_sessions([tmp_path])

    (folder / runs.RESULTS).rename(tmp_path / "damaged.txt")
    (session,) = read_sessions([tmp_path])
    assert sorted(session.results, key=lambda result: result.trial) == trials


def test_every_figure_can_be_made_again_from_the_records_alone(tmp_path: Path) -> None:
    """Whatever order the trials are read in, and wherever the folder was moved to."""
    trials = [*make_results("SSSBBINH"), *make_results("BBSS", task="vectorization")]
    trials = [dataclasses.replace(one, nodeid=f"[{n}]") for n, one in enumerate(trials)]
    folder = plan_session(tmp_path / "here" / "session", trials)
    for trial in trials:
        runs.record_result(runs.open_folder(folder, trial), trial)
    write(tmp_path / "document" / "results.json", trials, "session")
    (tmp_path / "here").rename(tmp_path / "there")

    documented = read_sessions([tmp_path / "document"])
    recorded = read_sessions([tmp_path / "there"])

    assert [(table.title, set(table.rows)) for table in make_report(recorded)] == [
        (table.title, set(table.rows)) for table in make_report(documented)
    ]


def test_two_sessions_that_write_to_one_folder_at_once_are_told_apart(project: Project) -> None:
    project.task("easy")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "--mlab-agent=solution"]
    both = [
        subprocess.Popen([*command, "tasks"], cwd=project.path, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [each.wait(timeout=120) for each in both] == [0, 0]

    sessions = read_sessions([project.path / ".mlab"])

    assert [len(session.results) for session in sessions] == [1, 1]
    assert [session.unfinished for session in sessions] == [0, 0]
    assert len({result.folder for session in sessions for result in session.results}) == 2
