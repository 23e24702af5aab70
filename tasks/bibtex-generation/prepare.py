"""Prepare the data: descriptions of data sets, and the papers that brought them out.

The package ``mteb`` describes some two thousand data sets, most with the BibTeX entry of
their paper. Its files are read as text; its code is not run.
"""

import ast
import functools
import hashlib
import importlib.util
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

SHORTEST, LONGEST = 40, 500
"""Descriptions of other lengths, in characters, are left out."""

MOST = 3
"""Descriptions of one paper's data sets that are used."""

TRAINING_SHARE = 0.4


def build(raw: Path, public: Path, private: Path) -> None:
    """Write the papers and the paragraphs for the agent, paragraphs and papers for the scorer."""
    papers, descriptions = read_papers()
    known = sorted(papers, key=digest)
    shown = ("result_id", "title", "authors", "year", "venue", "bibtex")
    listed = ({key: papers[title][key] for key in shown} for title in known)
    write(public / "papers.jsonl", listed)
    described = [title for title in known if descriptions[title]]
    border = round(TRAINING_SHARE * len(described))
    train = make_paragraphs(described[:border], descriptions)
    test = make_paragraphs(described[border:], descriptions)
    write(
        public / "train.jsonl",
        (
            {"id": name, "text": text, "papers": [papers[title]["result_id"] for title in titles]}
            for name, text, titles in train
        ),
    )
    for folder in (public, private):
        write(folder / "test.jsonl", ({"id": name, "text": text} for name, text, _ in test))
    write(
        private / "answers.jsonl",
        (
            {"id": name, "papers": [what_counts(papers[title]) for title in titles]}
            for name, _, titles in test
        ),
    )


def read_papers() -> tuple[dict[str, dict[str, Any]], dict[str, list[str]]]:
    """Give the papers by their titles, and the descriptions of their data sets."""
    papers: dict[str, dict[str, Any]] = {}
    described: dict[str, set[str]] = defaultdict(set)
    for metadata in read_metadata():
        paper = read_paper(metadata.get("bibtex_citation"))
        if paper is not None:
            papers.setdefault(simplify(paper["title"]), paper)
            described[clean(metadata.get("description") or "")].add(simplify(paper["title"]))
    descriptions: dict[str, list[str]] = {title: [] for title in papers}
    for text in sorted(described, key=digest):
        titles = described[text]
        if SHORTEST <= len(text) <= LONGEST and len(titles) == 1:
            (title,) = titles
            if len(descriptions[title]) < MOST:
                descriptions[title].append(text)
    return papers, descriptions


def read_metadata() -> Iterator[Mapping[str, Any]]:
    """Read what the package says of each data set: the constants of its ``TaskMetadata`` calls."""
    package = importlib.util.find_spec("mteb")
    assert package is not None
    assert package.origin is not None
    for file in sorted((Path(package.origin).parent / "tasks").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "TaskMetadata":
                yield {key.arg or "": constant_of(key.value) for key in node.keywords}


def constant_of(node: ast.expr) -> Any:
    """Give the value that an expression spells out, `None` for any other."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


@functools.cache
def read_paper(citation: str | None) -> dict[str, Any] | None:
    """Give title, authors, year, venue and entry of a citation that is of one paper alone."""
    from pybtex.database import BibliographyData, PybtexError, parse_string
    from pybtex.errors import capture

    try:
        with capture():
            entries = list(parse_string(citation or "", "bibtex").entries.values())
    except PybtexError:
        return None
    if len(entries) != 1:
        return None
    entry = entries[0]
    title, year = plain(entry.fields.get("title", "")), entry.fields.get("year", "")
    people = entry.persons.get("author", [])
    if not title or not people or not re.fullmatch(r"\d{4}", year):
        return None
    surname = simplify(plain(" ".join(people[0].last_names)))
    first = (re.findall(r"[a-z]{3,}", title.lower()) or ["paper"])[0]
    key = f"{surname}{year}{first}"
    fields = ("journal", "booktitle", "publisher", "eprint")
    return {
        "result_id": digest(simplify(title))[:12],
        "title": title,
        "authors": [plain(" ".join([*p.first_names, *p.last_names])) for p in people],
        "year": int(year),
        "surname": surname,
        "venue": next((plain(entry.fields[f]) for f in fields if f in entry.fields), ""),
        "bibtex": BibliographyData({key: entry}).to_string("bibtex"),
    }


def what_counts(paper: Mapping[str, Any]) -> list[str]:
    """Give by what a paper is recognised: title, year and its first author's surname."""
    return [simplify(paper["title"]), str(paper["year"]), paper["surname"]]


def make_paragraphs(
    titles: list[str], descriptions: Mapping[str, list[str]]
) -> list[tuple[str, str, list[str]]]:
    """Put descriptions together, of two to four papers each: id, text and the papers' titles."""
    rest = sorted(
        ((title, text) for title in titles for text in descriptions[title]),
        key=lambda pair: digest(pair[1]),
    )
    paragraphs = []
    while rest:
        size = 2 + len(paragraphs) % 3
        chosen: dict[str, str] = {}
        for title, text in rest:
            if title not in chosen and len(chosen) < size:
                chosen[title] = text
        rest = [pair for pair in rest if pair not in set(chosen.items())]
        text = " ".join(chosen.values())
        paragraphs.append((digest(text)[:12], text, list(chosen)))
    return sorted(paragraphs)


def clean(text: str) -> str:
    """Take links, what is said of later versions, and markup out of a description."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"This version corrects errors.*|https?://\S+|[\\{}]", "", text, flags=re.DOTALL)
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?" else f"{text}."


def plain(latex: str) -> str:
    """Give LaTeX as text."""
    from pybtex.richtext import Text

    return " ".join(str(Text.from_latex(latex)).split())


def simplify(title: str) -> str:
    """Give what of a title counts in comparing it."""
    return re.sub(r"[\W_]+", "", title).lower()


def digest(text: str) -> str:
    """Give the sha256 of a text, which orders things without saying anything about them."""
    return hashlib.sha256(text.encode()).hexdigest()


def write(file: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    file.write_text("".join(lines), encoding="utf-8")
