"""Put citations into paragraphs: cite the paper whose title shares most with a sentence."""

import itertools
import json
import math
import re
from pathlib import Path

import scholar

THRESHOLD = 4.0  # the weight of shared words from which on a paper is cited


def weigh(word):
    """Say how much a word tells: the fewer papers have it, the more."""
    return math.log(len(scholar.PAPERS) / len(scholar.INDEX[word]))


TITLES = {
    paper["result_id"]: {word: weigh(word) for word in scholar.words_of(paper["title"])}
    for paper in scholar.PAPERS
}


def compare(words, title):
    """Give the weight of the words that a sentence and a title share, less for longer titles."""
    shared = sum(weight for word, weight in title.items() if word in words)
    return shared**2 / sum(title.values()) if shared else 0.0


def find_papers(text):
    """Give the sentences of a paragraph, each with the ids of the papers that it should cite."""
    found = []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        single = scholar.words_of(sentence)
        joined = [first + second for first, second in itertools.pairwise(single)]
        words = {*single, *joined}
        rated = {paper: compare(words, title) for paper, title in TITLES.items()}
        best = max(rated, key=rated.__getitem__)
        found.append((sentence, [best] if rated[best] >= THRESHOLD else []))
    return found


def write_out(found):
    """Give the paragraph with its citations, and the BibTeX entries that they need."""
    sentences, entries = [], {}
    for sentence, papers in found:
        keys = []
        for paper in papers:
            entry = scholar.cite(paper)
            key = re.match(r"@\w+\{([^,]+),", entry).group(1)
            entries[key] = entry
            keys.append(key)
        sentences.append(f"{sentence} \\cite{{{','.join(keys)}}}" if keys else sentence)
    return " ".join(sentences), "\n".join(entries.values())


def rate(found, right):
    """Give the F1 of the papers found against those that are right."""
    cited = {paper for _, papers in found for paper in papers}
    return 2 * len(cited & set(right)) / (len(cited) + len(right))


def read(name):
    """Read one JSON object a line."""
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    train = read("data/train.jsonl")
    rates = [rate(find_papers(paragraph["text"]), paragraph["papers"]) for paragraph in train]
    print(f"validation F1: {sum(rates) / len(rates):.4f}")

    with Path("submission.jsonl").open("w", encoding="utf-8") as submission:
        for paragraph in read("data/test.jsonl"):
            text, bibtex = write_out(find_papers(paragraph["text"]))
            line = {"id": paragraph["id"], "text": text, "bibtex": bibtex}
            submission.write(json.dumps(line) + "\n")
