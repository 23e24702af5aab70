"""A stand-in for a scholarly search engine: finds papers by words, and cites them.

The answers have the shape of those that SerpApi gives for Google Scholar, as far as they go:
``search`` returns ``organic_results``, best first; ``cite`` returns the BibTeX of a result.
"""

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

PAPERS = [
    json.loads(line) for line in Path("data/papers.jsonl").read_text(encoding="utf-8").splitlines()
]
BY_ID = {paper["result_id"]: paper for paper in PAPERS}


def words_of(text):
    """Split a text into lower-case words and numbers."""
    return re.findall(r"[a-z0-9]+", text.lower())


INDEX = defaultdict(list)
for place, paper in enumerate(PAPERS):
    described = f"{paper['title']} {' '.join(paper['authors'])} {paper['venue']} {paper['year']}"
    for word in set(words_of(described)):
        INDEX[word].append(place)


def search(q, num=10, start=0):
    """Find papers by title, authors, venue and year: the rarer a word of ``q``, the more it counts.

    ``num`` is at most 20 results, from number ``start`` on.
    """
    weights = Counter()
    for word in set(words_of(q)):
        for place in INDEX.get(word, ()):
            weights[place] += math.log(len(PAPERS) / len(INDEX[word]))
    found = sorted(weights, key=lambda place: (-weights[place], place))
    shown = found[start : start + min(num, 20)]
    return {
        "search_parameters": {"engine": "google_scholar", "q": q},
        "search_information": {"total_results": len(found)},
        "organic_results": [
            {
                "position": position,
                "title": PAPERS[place]["title"],
                "result_id": PAPERS[place]["result_id"],
                "publication_info": {"summary": _summary(PAPERS[place])},
            }
            for position, place in enumerate(shown, start=start)
        ],
    }


def cite(result_id):
    """Give the BibTeX entry of a result."""
    return BY_ID[result_id]["bibtex"]


def _summary(paper):
    names = ", ".join(paper["authors"][:4])
    return f"{names} - {paper['venue']}, {paper['year']}".replace(" - ,", " -")
