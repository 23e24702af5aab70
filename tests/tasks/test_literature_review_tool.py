"""The task on a tool that reviews the literature on a topic."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from pytest_mlab.task import Task
from tests.tasks.bundled import BundledTask, digest, load_module, load_scorer

TEXTS = {
    "20.000001": "Fact or Fiction: verifying scientific claims with evidence from abstracts",
    "21.000002": "Climate claims collected from newspapers, checked against encyclopaedias",
    "22.000003": "Songs",
}
ANSWER = {"id": "one", "papers": ["20.000001", "22.000003"]}


class TestLiteratureReviewTool(BundledTask):
    name = "literature-review-tool"

    def test_the_answers_of_the_test_set_change_nothing_that_agents_see(
        self, task: Task, data: PreparedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Which papers belong to a topic of the test set can be read off nothing public."""
        assert task.preparer is not None
        preparer: Any = load_module(task.preparer)
        papers, topics_of = preparer.read_papers()
        shown = {topic["topic"] for topic in read(data.public / "train.jsonl")}
        alike: dict[frozenset[str], list[str]] = defaultdict(list)
        for title in sorted(papers):
            alike[frozenset(topics_of[title] & shown)].append(title)
        swapped = {
            title: topics_of[other]
            for titles in alike.values()
            for title, other in zip(titles, titles[1:] + titles[:1], strict=True)
        }
        monkeypatch.setattr(preparer, "read_papers", lambda: (papers, swapped))
        public, private = tmp_path / "public", tmp_path / "private"
        public.mkdir()
        private.mkdir()
        preparer.build(tmp_path, public, private)
        assert digest(private) != digest(data.private)
        assert digest(public) == digest(data.public)

    def test_no_topic_is_in_training_and_test(self, data: PreparedData) -> None:
        train, test = (read(data.public / f"{name}.jsonl") for name in ("train", "test"))
        assert not {topic["topic"] for topic in train} & {topic["topic"] for topic in test}
        assert all(set(topic) == {"id", "topic"} for topic in test)


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def report(*papers: str, summaries: dict[str, str] | None = None, cited: str | None = None) -> str:
    """Write a report on some papers."""
    told = {paper: TEXTS.get(paper, "") for paper in papers} | (summaries or {})
    listed = "\n".join(f"- [{paper}] A title" for paper in papers)
    parts = "\n".join(f"### [{paper}]\n\n{text}\n" for paper, text in told.items())
    cited = " ".join(f"[{paper}]" for paper in papers) if cited is None else cited
    return (
        f"# X\n\n## Papers\n\n{listed}\n\n## Summaries\n\n{parts}\n## Conclusion\n\nSee {cited}.\n"
    )


def rate(folder: Path, text: str) -> float:
    """Score one report."""
    (folder / "texts.json").write_text(json.dumps(TEXTS))
    (folder / "answers.jsonl").write_text(json.dumps(ANSWER) + "\n")
    (folder / "submission.jsonl").write_text(json.dumps({"id": "one", "report": text}) + "\n")
    return load_scorer("literature-review-tool")(folder / "submission.jsonl", folder)


RIGHT = ("20.000001", "22.000003")


@pytest.mark.parametrize(
    ("text", "f1"),
    [
        (report(*RIGHT), 1.0),
        (report("20.000001"), 2 / 3),
        (report(*RIGHT, "21.000002"), 0.8),
        (report(*RIGHT, "99.999999"), 0.8),
        (report(*RIGHT, cited="[20.000001]"), 0.5),
        (report(*RIGHT, summaries={"20.000001": "Fact or Fiction, on science."}), 0.5),
        (report("21.000002"), 0.0),
        (report(*RIGHT, cited="[20.000001] [22.000003] [21.000002]"), 0.0),
        (report(*RIGHT).replace("## Conclusion", "## The end"), 0.0),
        (report(*RIGHT) + " " * 100_000, 0.0),
        ("", 0.0),
    ],
    ids=[
        *("both", "one", "one too many", "an unknown one", "one not cited", "one not summed up"),
        *("the wrong one", "one cited, not listed", "no conclusion", "endless", "empty"),
    ],
)
def test_the_metric_is_the_f1_of_papers_listed_summed_up_and_cited(
    tmp_path: Path, text: str, f1: float
) -> None:
    assert rate(tmp_path, text) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "a line is not JSON"),
        (b"\xff\n", "a line is not JSON in UTF-8"),
        (b'{"id": "one"}\n', "line 1 is not"),
        (b"", 'topic "one" is missing'),
        (b'{"id": "one", "report": ""}\n' * 2, 'topic "one" is there twice'),
        (
            b'{"id": "one", "report": ""}\n{"id": "two", "report": ""}\n',
            'topic "two" is not one of data/test.jsonl',
        ),
    ],
)
def test_a_malformed_submission_is_invalid(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))
    (tmp_path / "answers.jsonl").write_text(json.dumps(ANSWER) + "\n")
    (tmp_path / "submission.jsonl").write_bytes(content)
    with pytest.raises(InvalidSubmission, match=problem):
        load_scorer("literature-review-tool")(tmp_path / "submission.jsonl", tmp_path)
