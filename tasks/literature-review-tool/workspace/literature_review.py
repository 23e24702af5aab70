"""Write a literature review of each topic: search for all of its words, report what comes first."""

import json
from pathlib import Path
from xml.etree import ElementTree

import arxiv

ATOM = "{http://www.w3.org/2005/Atom}"
PAPERS = 3  # that a report is about, at most
WORDS = 12  # of an abstract, that are its summary
FILLERS = {"data", "sets", "for", "on", "in", "or", "and", "of", "the", "by"}


def find_papers(topic):
    """Search for a topic's words and give the papers found, as dictionaries."""
    words = [word for word in arxiv.words_of(topic) if word not in FILLERS]
    feed = arxiv.query(" AND ".join(f"all:{word}" for word in words), max_results=PAPERS)
    return [
        {key: entry.findtext(f"{ATOM}{key}") for key in ("id", "title", "summary")}
        for entry in ElementTree.fromstring(feed).iter(f"{ATOM}entry")
    ]


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
