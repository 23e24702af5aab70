"""Write a literature review of each topic: report the papers that have most of its words."""

import json
import math
from collections import Counter
from pathlib import Path

import arxiv

PAPERS = 16  # that a report is about, at most
NEAR = 0.7  # of the best paper's weight, that a paper needs
LETTERS = 8  # of a word that count, so that "medicine" finds "medicinal"
WORDS = 40  # of an abstract, that are its summary
FILLERS = {"data", "sets", "for", "on", "in", "or", "and", "of", "the", "by"}


def stems_of(text):
    """Give the beginnings of a text's words."""
    return [word[:LETTERS] for word in arxiv.words_of(text) if word not in FILLERS]


STEMS = {
    paper["id"]: Counter(stems_of(f"{paper['title']} {paper['summary']}")) for paper in arxiv.PAPERS
}
SPREAD = Counter(stem for stems in STEMS.values() for stem in stems)


def weigh(wanted, stems):
    """Give the weight of the wanted words that a paper has, the rarer a word the more."""
    return sum(
        math.log(len(STEMS) / SPREAD[stem]) * math.sqrt(min(stems[stem], 2))
        for stem in wanted
        if stem in stems
    )


def find_papers(topic):
    """Give the papers that have most of a topic's words, as dictionaries."""
    wanted = set(stems_of(topic))
    weights = {paper: weigh(wanted, stems) for paper, stems in STEMS.items()}
    least = max(NEAR * max(weights.values()), 1e-9)
    ranked = sorted(arxiv.PAPERS, key=lambda paper: -weights[paper["id"]])
    return [paper for paper in ranked if weights[paper["id"]] >= least][:PAPERS]


def write_report(topic, papers):
    """Give the report on some papers: the list, a summary of each, and a conclusion."""
    listed = "\n".join(f"- [{paper['id']}] {paper['title']}" for paper in papers)
    summaries = "\n\n".join(f"### [{paper['id']}]\n\n{summarize(paper)}" for paper in papers)
    cited = ", ".join(f"[{paper['id']}]" for paper in papers)
    return (
        f"# {topic}\n\n## Papers\n\n{listed}\n\n## Summaries\n\n{summaries}\n\n"
        f"## Conclusion\n\nWhat was found on the topic: {cited}.\n"
    )


def summarize(paper):
    """Give the beginning of a paper's title and abstract."""
    return " ".join(f"{paper['title']}: {paper['summary']}".split()[:WORDS])


def rate(papers, right):
    """Give the F1 of the papers found against those that belong to the topic."""
    found = {paper["id"] for paper in papers}
    return 2 * len(found & set(right)) / (len(found) + len(right))


def read(name):
    """Read one JSON object a line."""
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    train = read("data/train.jsonl")
    rates = [rate(find_papers(topic["topic"]), topic["papers"]) for topic in train]
    print(f"validation F1: {sum(rates) / len(rates):.4f}")

    with Path("submission.jsonl").open("w", encoding="utf-8") as submission:
        for topic in read("data/test.jsonl"):
            report = write_report(topic["topic"], find_papers(topic["topic"]))
            submission.write(json.dumps({"id": topic["id"], "report": report}) + "\n")
