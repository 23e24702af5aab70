"""Prepare the data: papers that brought out data sets, and topics with their papers.

The package ``mteb`` describes some two thousand data sets: what they are, their languages, domains
and uses, and the BibTeX entry of their paper. Its files are read as text; its code is not run.
"""

import ast
import functools
import hashlib
import importlib.util
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

FEWEST, MOST = 3, 30
"""A topic has this many papers."""

LANGUAGES = 5
"""A data set in more languages is about none of them."""

TRAINING_SHARE = 0.4

DOMAINS = {
    "Academic": "academic text",
    "AudioScene": "the sounds of surroundings",
    "Encyclopaedic": "encyclopaedias",
    "Fiction": "fiction",
    "Financial": "finance",
    "Government": "government and politics",
    "Legal": "law",
    "Medical": "medicine",
    "Music": "music",
    "News": "news",
    "Programming": "programming",
    "Reviews": "reviews by customers",
    "Scene": "pictures of scenes",
    "Social": "social media",
    "Spoken": "speech",
}
"""What a topic calls a domain; the others say too little."""


def build(raw: Path, public: Path, private: Path) -> None:
    """Write the papers and the topics for the agent, answers.jsonl for the scorer."""
    papers, topics_of = read_papers()
    known = sorted(papers, key=digest)
    write(public / "papers.jsonl", (papers[title] for title in known))
    topics = sorted(find_topics(topics_of).items(), key=lambda topic: digest(topic[0]))
    border = round(TRAINING_SHARE * len(topics))
    answers = [
        {"id": digest(text)[:12], "topic": text, "papers": sorted(papers[t]["id"] for t in titles)}
        for text, titles in topics
    ]
    write(public / "train.jsonl", answers[:border])
    shown = ({key: answer[key] for key in ("id", "topic")} for answer in answers[border:])
    write(public / "test.jsonl", shown)
    texts = {p["id"]: f"{p['title']} {p['summary']}" for p in (papers[t] for t in known)}
    (private / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    write(private / "answers.jsonl", answers[border:])


def read_papers() -> tuple[dict[str, dict[str, Any]], dict[str, set[str]]]:
    """Give the papers by their titles, and the topics of each."""
    papers: dict[str, dict[str, Any]] = {}
    topics: dict[str, set[str]] = defaultdict(set)
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    names = read_languages()
    for metadata in read_metadata():
        paper = read_paper(metadata.get("bibtex_citation"))
        if paper is None:
            continue
        title = simplify(paper["title"])
        papers.setdefault(title, paper)
        texts[title].setdefault(clean(metadata.get("description") or ""))
        topics[title].update(combine(find_facets(metadata, names)))
    for title, paper in papers.items():
        paper["summary"] = " ".join(text for text in texts[title] if text)[:1500]
    kept = {title: paper for title, paper in papers.items() if paper["summary"]}
    return kept, {title: topics[title] for title in kept}


def read_metadata() -> Iterator[Mapping[str, Any]]:
    """Read what the package says of each data set: the constants of its ``TaskMetadata`` calls."""
    for file in sorted((find_package() / "tasks").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "TaskMetadata":
                yield {key.arg or "": constant_of(key.value) for key in node.keywords}


def find_package() -> Path:
    """Give the package's folder, without importing it."""
    package = importlib.util.find_spec("mteb")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent


def read_languages() -> dict[str, str]:
    """Give the languages' English names by their codes."""
    text = (find_package() / "languages" / "iso_639_3_to_language.json").read_text("utf-8")
    names: dict[str, str] = json.loads(text)
    return names


def constant_of(node: ast.expr) -> Any:
    """Give the value that an expression spells out, `None` for any other."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


@functools.cache
def read_paper(citation: str | None) -> dict[str, Any] | None:
    """Give id, title, authors and year of a citation that is of one paper alone."""
    from pybtex.database import PybtexError, parse_string
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
    return {
        "id": f"{year[2:]}.{digest(simplify(title))[:6]}",
        "title": title,
        "authors": [plain(" ".join([*p.first_names, *p.last_names])) for p in people],
        "year": int(year),
    }


def find_facets(metadata: Mapping[str, Any], names: Mapping[str, str]) -> list[list[str]]:
    """Give what a data set is about: what for, on what, in which languages."""
    stated = metadata.get("eval_langs") or []
    groups = stated.values() if isinstance(stated, dict) else [stated]
    codes = {code.partition("-")[0] for group in groups for code in group} - {"zxx"}
    told = len(codes) <= LANGUAGES and "eng" not in codes
    uses, domains = metadata.get("task_subtypes") or (), metadata.get("domains") or ()
    return [
        [f"for {use.replace('/', ' or ').lower()}" for use in uses],
        [f"on {DOMAINS[name]}" for name in domains if name in DOMAINS],
        [f"in {names[code]}" for code in codes if told and code in names],
    ]


def combine(facets: list[list[str]]) -> Iterator[str]:
    """Give the topics that one or two kinds of facets make."""
    for kind in facets:
        yield from (f"Data sets {facet}" for facet in kind)
    for first, second in combinations(facets, 2):
        yield from (f"Data sets {one} {other}" for one in first for other in second)


def find_topics(topics_of: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Give the papers of each topic that has neither too few of them nor too many."""
    members: dict[str, list[str]] = defaultdict(list)
    for title in sorted(topics_of):
        for topic in topics_of[title]:
            members[topic].append(title)
    return {topic: titles for topic, titles in members.items() if FEWEST <= len(titles) <= MOST}


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
