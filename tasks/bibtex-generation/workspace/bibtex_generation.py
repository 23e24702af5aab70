"""Put citations into paragraphs: search for a sentence's first words, cite what comes first."""

import json
import re
from pathlib import Path

import scholar

WORDS = 6  # of a sentence, that are searched for
SENTENCES = 1  # of a paragraph, that are looked at
RESULTS = 1  # of a search, that are cited


def find_papers(text):
    """Give the sentences of a paragraph, each with the ids of the papers that it should cite."""
    found = []
    for number, sentence in enumerate(re.split(r"(?<=[.!?])\s+", text)):
        query = " ".join(sentence.split()[:WORDS])
        results = (
            scholar.search(query, num=RESULTS)["organic_results"] if number < SENTENCES else []
        )
        found.append((sentence, [result["result_id"] for result in results]))
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
