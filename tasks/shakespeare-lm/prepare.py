"""Prepare the data: Shakespeare's plays as words of a fixed vocabulary, eight of them kept back."""

import csv
import hashlib
import importlib.metadata
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

TEST_PLAYS = 8
RARE = 3  # what the training plays have less often is <unk>
UNKNOWN, END_OF_LINE = "<unk>", "<eol>"
POEMS = {
    "lovers_complaint_gut",
    "passionate_pilgrim_gut",
    "phoenix_and_the_turtle_gut",
    "rape_of_lucrece_gut",
    "sonnets_gut",
}
WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*|'[a-z]+|\d+|[^\sa-z\d]")


def build(raw: Path, public: Path, private: Path) -> None:
    """Write train.txt and vocabulary.txt for the agent, labels.csv and vocabulary.txt to score."""
    # Which plays are kept back is decided by a hash: of comedies, histories and tragedies some.
    files = sorted(find_plays(), key=lambda file: hashlib.sha256(file.stem.encode()).digest())
    plays = [list(split_words(file.read_text(encoding="utf-8"))) for file in files]
    train, test = plays[:-TEST_PLAYS], plays[-TEST_PLAYS:]
    vocabulary = choose_vocabulary(train)
    known = frozenset(vocabulary)
    for folder in (public, private):
        (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in vocabulary))
    (public / "train.txt").write_text("\n".join(spell(play, known) for play in train))
    write_answers(private / "labels.csv", (word for play in test for word in play), known)


def find_plays() -> list[Path]:
    """Give the files of the modern edition, without the poems.

    The package also has the plays as the folio of 1623 spells them, which would show the agent
    what is kept back.
    """
    package = importlib.metadata.distribution("shakespeare")
    folder = Path(str(package.locate_file("shksprdata/texts")))
    return [file for file in folder.glob("*_gut.txt") if file.stem not in POEMS]


def split_words(text: str) -> Iterable[str]:
    """Give a text's words and punctuation marks in lower case, and where its lines end."""
    for line in text.lower().splitlines():
        if words := WORD.findall(line):
            yield from words
            yield END_OF_LINE


def choose_vocabulary(plays: Iterable[Iterable[str]]) -> list[str]:
    """Give the words that are not rare, the most frequent first."""
    counts = Counter(word for play in plays for word in play if word != END_OF_LINE)
    words = (word for word, count in counts.items() if count >= RARE)
    return [UNKNOWN, END_OF_LINE, *sorted(words, key=lambda word: (-counts[word], word))]


def spell(play: Iterable[str], known: frozenset[str]) -> str:
    """Give a play as lines of words with spaces between them."""
    words = (word if word in known else UNKNOWN for word in play)
    return " ".join(words).replace(f" {END_OF_LINE} ", "\n").removesuffix(f" {END_OF_LINE}") + "\n"


def write_answers(file: Path, words: Iterable[str], known: frozenset[str]) -> None:
    """Write the text that is kept back, one word a row."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", "word"])
        for number, word in enumerate(words, start=1):
            writer.writerow([number, word if word in known else UNKNOWN])
