"""Score a submission: how many of the right papers each paragraph cites, by BibTeX that parses."""

import json
import re
from pathlib import Path
from typing import Any

from pytest_mlab import InvalidSubmission

LONGEST = 20_000
"""Characters of BibTeX that are read for a paragraph."""

CITATION = re.compile(r"\s*\\cite\{([^{}]*)\}")

Paper = tuple[str, str, str]


def score(submission: Path, private: Path) -> float:
    """Give the mean F1 of the cited papers, in [0, 1]; higher is better."""
    texts = {record["id"]: record["text"] for record in read(private / "test.jsonl")}
    papers = {record["id"]: record["papers"] for record in read(private / "answers.jsonl")}
    given = {record["id"]: record for record in check(submission, set(texts))}
    return sum(rate(given[name], texts[name], papers[name]) for name in texts) / len(texts)


def check(submission: Path, wanted: set[str]) -> list[dict[str, Any]]:
    """Read what was handed in; raises `InvalidSubmission` unless each paragraph is there once."""
    try:
        records = list(read(submission))
    except (ValueError, RecursionError) as error:
        raise InvalidSubmission(f"a line is not JSON in UTF-8: {error}") from error
    for number, record in enumerate(records, start=1):
        texts = ("id", "text", "bibtex")
        if not isinstance(record, dict) or any(type(record.get(key)) is not str for key in texts):
            raise InvalidSubmission(
                f'line {number} is not {{"id": …, "text": …, "bibtex": …}}, all three texts'
            )
    names = [record["id"] for record in records]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidSubmission(f'paragraph "{twice[:80]}" is there twice')
    if wanted ^ set(names):
        odd = sorted(wanted ^ set(names))[0]
        problem = "is missing" if odd in wanted else "is not one of data/test.jsonl"
        raise InvalidSubmission(f'paragraph "{odd[:80]}" {problem}')
    return records


def rate(given: dict[str, Any], text: str, papers: list[list[str]]) -> float:
    """Give the F1 of one paragraph; 0 where its text was changed or its BibTeX does not hold."""
    keys = {
        key.strip() for match in CITATION.findall(given["text"]) for key in match.split(",")
    } - {""}
    if squeeze(CITATION.sub("", given["text"])) != squeeze(text):
        return 0.0
    cited = parse(given["bibtex"])
    if cited is None or set(cited) != keys:
        return 0.0
    right = {tuple(paper) for paper in papers}
    found = right & set(cited.values())
    return 2 * len(found) / (len(cited) + len(right))


def parse(text: str) -> dict[str, Paper] | None:
    """Give the papers of BibTeX entries by their keys; `None` where the text does not parse."""
    from pybtex.database import PybtexError, parse_string

    if len(text) > LONGEST:
        return None
    try:
        entries = parse_string(text, "bibtex").entries
        return {key: identify(entry) for key, entry in entries.items()}
    except (PybtexError, LookupError, ValueError, RecursionError):
        return None


def identify(entry: Any) -> Paper:
    """Give by what a paper is recognised: title, year and its first author's surname."""
    from pybtex.richtext import Text

    title, surname = (
        simplify(str(Text.from_latex(latex)))
        for latex in (entry.fields["title"], " ".join(entry.persons["author"][0].last_names))
    )
    return title, entry.fields["year"], surname


def simplify(text: str) -> str:
    """Give what of a title or a name counts in comparing it."""
    return re.sub(r"[\W_]+", "", text).lower()


def squeeze(text: str) -> str:
    """Take blanks out of the comparison."""
    return "".join(text.split())


def read(file: Path) -> Any:
    """Read one JSON value a line."""
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
