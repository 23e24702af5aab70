"""Hostile submissions are refused by a sound scorer, and tell on one that is not."""

import os
from pathlib import Path

import pytest

from pytest_mlab.attacks import submissions
from pytest_mlab.attacks.findings import Finding
from pytest_mlab.attacks.submissions import try_submissions
from pytest_mlab.data import prepare_data
from pytest_mlab.sandbox import find_sandbox
from pytest_mlab.task import Task
from tests.folders import SCORER, load

CARELESS = """
import csv

def score(submission, private):
    with open(private / "labels.csv") as file:
        answers = {row["id"]: row["label"] for row in csv.DictReader(file)}
    with open(submission, encoding="utf-8") as file:
        rows = {row["id"]: row["label"] for row in csv.DictReader(file)}
    return sum(rows.get(name) == label for name, label in answers.items()) / len(answers)
"""


def attack(task: Task, workspace: Path, kind: str = "none") -> list[Finding]:
    workspace.mkdir()
    findings = list(try_submissions(task, workspace, prepare_data(task), find_sandbox(kind)))
    assert not os.path.lexists(workspace / task.submission.file)
    return findings


@pytest.mark.parametrize("kind", ["none", "auto"])
def test_a_sound_scorer_refuses_them_all(tmp_path: Path, kind: str) -> None:
    assert attack(load(tmp_path), tmp_path / "workspace", kind) == []


@pytest.mark.parametrize("file", ["out/answers.jsonl", "answers.json", "model.bin", "answers.py"])
def test_each_kind_of_file_is_tried(tmp_path: Path, file: str) -> None:
    """A scorer that takes whatever it gets is told by the contents, never by what is no file."""
    task = load(
        tmp_path,
        submission={"file": file},
        files={"score.py": "def score(submission, private):\n    return 0.9\n"},
    )
    found = attack(task, tmp_path / "workspace")
    kind = submissions._OF_KIND.get(Path(file).suffix, submissions._OF_ANY)
    assert found == [Finding(f"hand_in_{name}", "it scores 0.9") for name in kind]


def test_a_scorer_that_can_be_crashed_or_pleased_is_found(tmp_path: Path) -> None:
    task = load(tmp_path, files={"score.py": CARELESS})
    found = {each.attack: each.evidence for each in attack(task, tmp_path / "workspace")}
    assert found["hand_in_nothing"] == "it scores 0"
    assert "UnicodeDecodeError" in found["hand_in_all_bytes"]
    assert "field larger than field limit" in found["hand_in_an_open_quote"]
    assert not [name for name in found if "link" in name or "pipe" in name]


def test_a_scorer_that_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "SECONDS", 0.5)
    scorer = "def score(submission, private):\n    while True:\n        pass\n"
    task = load(tmp_path, submission={"file": "answers.py"}, files={"score.py": scorer})
    [finding] = attack(task, tmp_path / "workspace")
    assert finding.attack == "hand_in_one_long_line"
    assert "did not return within [limits] scoring_seconds = 0.5" in finding.evidence


def test_without_the_walls_before_a_scorer_what_is_no_file_gets_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links are followed, devices are read, folders and sparse files are opened."""

    def copy(task: Task, workspace: Path, target: Path) -> None:
        source = os.open(workspace / task.submission.file, os.O_RDONLY | os.O_NONBLOCK)
        try:
            target.write_bytes(os.read(source, 100_000))
        finally:
            os.close(source)

    monkeypatch.setattr("pytest_mlab.scoring._copy_submission", copy)
    scorer = SCORER.replace("def score(", "def score_table(") + (
        "\n\ndef score(submission, private):\n"
        "    if submission.read_bytes()[:1] in (b'', b'\\0'):\n"
        "        return 0.1\n"
        "    return score_table(submission, private)\n"
    )
    task = load(tmp_path, files={"score.py": scorer})
    found = {each.attack: each.evidence for each in attack(task, tmp_path / "workspace")}
    assert found["hand_in_a_link_0"] == "it scores 1", "the answers themselves"
    assert found["hand_in_a_link_1"] == "it scores 0.1"
    assert found["hand_in_a_pipe"] == "it scores 0.1"
    assert found["hand_in_a_sparse_file"] == "it scores 0.1"
    assert "Is a directory" in found["hand_in_a_folder"]
    assert ("hand_in_a_device" in found) is (os.geteuid() == 0)
