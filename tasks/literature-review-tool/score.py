"""Score a submission: how many of a topic's papers each report lists, sums up and cites."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_mlab import InvalidSubmission

LONGEST = 100_000
"""Characters of a report that are read."""

FEWEST = 5
"""Words of a paper's title or abstract, of four or more letters, that its summary has to hold."""

MARK = re.compile(r"\[(\d\d\.[0-9a-f]{6})\]")


def score(submission: Path, private: Path) -> float:
    """Give the mean F1 of the reports' papers, in [0, 1]; higher is better."""
    answers = {record["id"]: record for record in read(private / "answers.jsonl")}
    texts = json.loads((private / "texts.json").read_text(encoding="utf-8"))
    words = {paper: words_of(text) for paper, text in texts.items()}
    reports = check(submission, set(answers))
    rates = (rate(reports[name], answers[name]["papers"], words) for name in answers)
    return sum(rates) / len(answers)


def check(submission: Path, wanted: set[str]) -> dict[str, str]:
    """Read what was handed in; raises `InvalidSubmission` unless each topic is there once."""
    try:
        records = list(read(submission))
    except (ValueError, RecursionError) as error:
        raise InvalidSubmission(f"a line is not JSON in UTF-8: {error}") from error
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict) or any(
            type(record.get(key)) is not str for key in ("id", "report")
        ):
            raise InvalidSubmission(f'line {number} is not {{"id": …, "report": …}}, both texts')
    names = [record["id"] for record in records]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidSubmission(f'topic "{twice[:80]}" is there twice')
    if wanted ^ set(names):
        odd = sorted(wanted ^ set(names))[0]
        problem = "is missing" if odd in wanted else "is not one of data/test.jsonl"
        raise InvalidSubmission(f'topic "{odd[:80]}" {problem}')
    return {record["id"]: record["report"] for record in records}


def rate(report: str, right: list[str], words: dict[str, set[str]]) -> float:
    """Give the F1 of one report; 0 where its conclusion cites what it does not list."""
    if len(report) > LONGEST:
        return 0.0
    parts = split(report, r"## +(Papers|Summaries|Conclusion)")
    lines = parts.get("Papers", "").splitlines()
    listed = {mark[1] for line in lines if (mark := re.match(rf"[-*] +{MARK.pattern}", line))}
    cited = set(MARK.findall(parts.get("Conclusion", "")))
    if not cited <= listed:
        return 0.0
    summaries = split(parts.get("Summaries", ""), rf"### +{MARK.pattern}")
    told = {
        paper
        for paper in listed & cited & words.keys()
        if len(words_of(summaries.get(paper, "")) & words[paper]) >= min(FEWEST, len(words[paper]))
    }
    return 2 * len(told & set(right)) / (len(listed) + len(right))


def split(text: str, heading: str) -> dict[str, str]:
    """Give what stands below each heading by the heading's word; the first of its kind counts."""
    _, *parts = re.split(rf"(?m)^{heading}[^\n]*$", text)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return dict(reversed(list(pairs)))


def words_of(text: str) -> set[str]:
    """Give the words of four letters or more in a text."""
    return set(re.findall(r"[^\W\d_]{4,}", text.lower()))


def read(file: Path) -> Iterator[Any]:
    """Read one JSON value a line."""
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
