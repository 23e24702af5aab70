"""Results on disk as they come, beside the document that is written at the end."""

import json
from pathlib import Path

from pytest_mlab.reporting.journal import Journal
from pytest_mlab.results import Result
from tests.reporting.builders import make_result, make_results


def test_each_result_is_on_disk_at_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "results.json")
    written: list[Result] = []

    for result in make_results("SBI"):
        journal.append(result)
        written.append(result)
        assert journal.path is not None
        header, *lines = journal.path.read_text(encoding="utf-8").splitlines()
        assert json.loads(header) == {"schema": "mlab-results/1"}
        assert [Result.from_json(line) for line in lines] == written

    journal.close()


def test_two_sessions_do_not_share_a_file(tmp_path: Path) -> None:
    first, second = Journal(tmp_path / "results.json"), Journal(tmp_path / "results.json")

    first.append(make_result(trial=1))
    second.append(make_result(trial=2))
    first.discard()

    assert list(tmp_path.iterdir()) == [second.path]
    second.close()


def test_without_a_result_there_is_no_file(tmp_path: Path) -> None:
    Journal(tmp_path / "results.json").discard()

    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_is_remembered_not_raised(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "missing" / "results.json")

    journal.append(make_result())
    journal.append(make_result())
    journal.discard()

    assert isinstance(journal.error, FileNotFoundError)
