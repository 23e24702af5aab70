"""The task on a tool that finds what a paragraph has to cite."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab import InvalidSubmission
from pytest_mlab.data import PreparedData
from pytest_mlab.task import Task
from tests.tasks.bundled import BundledTask, digest, load_module, load_scorer

TEXT = "A corpus of tweets. Another of films."
PAPERS = [["acorpusoftweets", "2020", "lee"], ["filmsmore", "2019", "garcíalópez"]]
TWEETS = "@article{a, title={A {C}orpus of Tweets}, author={Lee, Ann and B. C. D}, year={2020}}"
FILMS = "@misc{b, title=\"Films \\& More\", author={Garc{\\'i}a L{\\'o}pez, Luis}, year=2019}"


class TestBibtexGeneration(BundledTask):
    name = "bibtex-generation"

    def test_the_answers_of_the_test_set_change_nothing_that_agents_see(
        self, task: Task, data: PreparedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Which paper a description of the test set belongs to can be read off nothing public."""
        assert task.preparer is not None
        preparer: Any = load_module(task.preparer)
        papers, descriptions = preparer.read_papers()
        asked = [title for title in sorted(papers, key=preparer.digest) if descriptions[title]]
        asked = asked[round(preparer.TRAINING_SHARE * len(asked)) :]
        moved = zip(asked, asked[1:] + asked[:1], strict=True)
        swapped = descriptions | {title: descriptions[other] for title, other in moved}
        monkeypatch.setattr(preparer, "read_papers", lambda: (papers, swapped))
        public, private = tmp_path / "public", tmp_path / "private"
        public.mkdir()
        private.mkdir()
        preparer.build(tmp_path, public, private)
        assert digest(private) != digest(data.private)
        assert digest(public) == digest(data.public)

    def test_no_paper_is_to_be_cited_in_training_and_test(self, data: PreparedData) -> None:
        papers = {paper["result_id"]: paper for paper in read(data.public / "papers.jsonl")}
        trained = {
            papers[name]["title"]
            for paragraph in read(data.public / "train.jsonl")
            for name in paragraph["papers"]
        }
        asked = {
            title
            for answer in read(data.private / "answers.jsonl")
            for title, *_ in answer["papers"]
        }
        assert trained
        assert asked
        simplify = load_module(task_file("prepare.py")).simplify
        assert not set(map(simplify, trained)) & asked


def task_file(name: str) -> Path:
    return Path(__file__).parents[2] / "tasks" / "bibtex-generation" / name


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def write_answer(private: Path) -> None:
    (private / "test.jsonl").write_text(json.dumps({"id": "one", "text": TEXT}) + "\n")
    (private / "answers.jsonl").write_text(json.dumps({"id": "one", "papers": PAPERS}) + "\n")


def rate(folder: Path, text: str, *entries: str) -> float:
    """Score one paragraph."""
    pytest.importorskip("pybtex")
    write_answer(folder)
    line = {"id": "one", "text": text, "bibtex": "\n".join(entries)}
    (folder / "submission.jsonl").write_text(json.dumps(line) + "\n")
    return load_scorer("bibtex-generation")(folder / "submission.jsonl", folder)


BOTH = r"A corpus of tweets \cite{a}. Another of films \cite{b}."


@pytest.mark.parametrize(
    ("text", "entries", "f1"),
    [
        (BOTH, (TWEETS, FILMS), 1.0),
        (r"A corpus of tweets. Another of films.\cite{a, b}", (TWEETS, FILMS), 1.0),
        (r"A corpus of tweets \cite{a}. Another of films.", (TWEETS,), 2 / 3),
        (BOTH, (TWEETS, FILMS.replace("2019", "2018")), 0.5),
        (BOTH, (TWEETS, FILMS.replace("pez,", "pe,")), 0.5),
        (BOTH, (TWEETS, TWEETS.replace("{a,", "{b,")), 0.5),
        (TEXT, (), 0.0),
    ],
    ids=["both", "in one command", "one", "year", "author", "the same twice", "none"],
)
def test_the_metric_is_the_f1_of_the_papers(
    tmp_path: Path, text: str, entries: tuple[str, ...], f1: float
) -> None:
    assert rate(tmp_path, text, *entries) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        (BOTH.replace("films", "songs"), (TWEETS, FILMS)),
        (BOTH, (TWEETS,)),
        (r"A corpus of tweets \cite{a}. Another of films.", (TWEETS, FILMS)),
        (BOTH, (TWEETS, FILMS[:-1])),
        (BOTH, (TWEETS, FILMS, FILMS)),
        (BOTH, (TWEETS, FILMS.replace("year=2019", "month=1"))),
        (BOTH, (TWEETS, FILMS + " " * 20_000)),
    ],
    ids=["other text", "no entry", "not cited", "unparsable", "key twice", "no year", "endless"],
)
def test_what_does_not_hold_counts_nothing(
    tmp_path: Path, text: str, entries: tuple[str, ...]
) -> None:
    assert rate(tmp_path, text, *entries) == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "a line is not JSON"),
        (b"\xff\n", "a line is not JSON in UTF-8"),
        (b"[" * 100_000, "a line is not JSON"),
        (b"[1]\n", "line 1 is not"),
        (b'{"id": "one", "text": "", "bibtex": 7}\n', "line 1 is not"),
        (b"", 'paragraph "one" is missing'),
        (b'{"id": "one", "text": "", "bibtex": ""}\n' * 2, 'paragraph "one" is there twice'),
        (
            b'{"id": "one", "text": "", "bibtex": ""}\n{"id": "two", "text": "", "bibtex": ""}\n',
            'paragraph "two" is not one of data/test.jsonl',
        ),
    ],
)
def test_a_malformed_submission_is_invalid(tmp_path: Path, content: bytes, problem: str) -> None:
    write_answer(tmp_path)
    (tmp_path / "submission.jsonl").write_bytes(content)
    with pytest.raises(InvalidSubmission, match=problem):
        load_scorer("bibtex-generation")(tmp_path / "submission.jsonl", tmp_path)
