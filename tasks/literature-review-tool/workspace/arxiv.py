"""A stand-in for arXiv's search: answers queries with Atom, as its API does, from a fixed list."""

import json
import math
import re
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

PAPERS = [
    json.loads(line) for line in Path("data/papers.jsonl").read_text(encoding="utf-8").splitlines()
]
FIELDS = {"ti": "title", "abs": "summary", "au": "authors"}


def words_of(text):
    """Split a text into lower-case words and numbers."""
    return re.findall(r"[^\W_]+", text.lower())


INDEX = {field: defaultdict(set) for field in FIELDS}
for place, paper in enumerate(PAPERS):
    for field, key in FIELDS.items():
        text = " ".join(paper[key]) if key == "authors" else paper[key]
        for word in words_of(text):
            INDEX[field][word].add(place)


def query(search_query, start=0, max_results=10):
    """Find papers, best first, and give them as an Atom feed.

    A query is made of terms such as ``all:speech``, ``ti:corpus``, ``abs:german`` or ``au:cohan``
    with ``AND``, ``OR`` or ``ANDNOT`` between them, read from left to right; a term may be several
    words in double quotes, which must all be there. The rarer the words that a paper has, the
    better it is.
    """
    found, weights = set(), defaultdict(float)
    for operator, field, value in _parse(search_query):
        hits = _match(field, value, weights if operator != "ANDNOT" else defaultdict(float))
        found = {"OR": found | hits, "AND": found & hits, "ANDNOT": found - hits}[operator]
    ranked = sorted(found, key=lambda place: (-weights[place], place))
    return _write(search_query, ranked, start, max_results)


def _parse(text):
    operator = "OR"
    for part in re.findall(r'(?:\w+:)?"[^"]*"|\S+', text):
        if part in ("AND", "OR", "ANDNOT"):
            operator = part
            continue
        field, _, value = part.partition(":") if ":" in part else ("all", ":", part)
        if field not in (*FIELDS, "all"):
            raise ValueError(f'there is no field "{field}"; there are: all, {", ".join(FIELDS)}')
        yield operator, field, value
        operator = "AND"


def _match(field, value, weights):
    hits = set(range(len(PAPERS)))
    for word in words_of(value):
        fields = FIELDS if field == "all" else [field]
        places = set().union(*(INDEX[name].get(word, ()) for name in fields))
        for place in places:
            weights[place] += math.log(len(PAPERS) / len(places))
        hits &= places
    return hits


def _write(search_query, ranked, start, max_results):
    entries = "".join(_entry(PAPERS[place]) for place in ranked[start : start + max_results])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom"'
        ' xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">\n'
        f"  <title>{escape(search_query)}</title>\n"
        f"  <opensearch:totalResults>{len(ranked)}</opensearch:totalResults>\n"
        f"  <opensearch:startIndex>{start}</opensearch:startIndex>\n"
        f"{entries}</feed>\n"
    )


def _entry(paper):
    authors = "".join(f"<author><name>{escape(name)}</name></author>" for name in paper["authors"])
    return (
        f"  <entry><id>{paper['id']}</id><published>{paper['year']}</published>"
        f"<title>{escape(paper['title'])}</title><summary>{escape(paper['summary'])}</summary>"
        f"{authors}</entry>\n"
    )
