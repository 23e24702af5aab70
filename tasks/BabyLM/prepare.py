"""Prepare the data: BabyLM's corpus of 10 million words, in the tokens of GPT-2."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pytest_mlab.download import fetch

ARCHIVE = "babylm_data.zip"
END = "<|endoftext|>"
PASSAGES = 128  # in the test set and in the validation set
PASSAGE = 4000  # characters, at least: about a thousand tokens
TELLING = 60  # a line of so many characters is not there twice by chance


def download(raw: Path) -> None:
    """Fetch the corpus (250 MB, with that of another track) and what makes GPT-2's tokens."""
    fetch(
        f"https://github.com/babylm/babylm.github.io/raw/main/{ARCHIVE}",
        raw / ARCHIVE,
        "sha256:1337771192c61fa38c7eca2ef535f568c19270789b114fe7c60fe23e4314ab57",
    )
    gpt2 = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main"
    fetch(
        f"{gpt2}/encoder.json",
        raw / "encoder.json",
        "sha256:196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    )
    fetch(
        f"{gpt2}/vocab.bpe",
        raw / "vocab.bpe",
        "sha256:1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    )


def build(raw: Path, public: Path, private: Path) -> None:
    """Write tokens to train on and to validate with for the agent, those of the test to score."""
    from tokenizers.implementations import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer.from_file(str(raw / "encoder.json"), str(raw / "vocab.bpe"))
    tokenizer.save(str(public / "tokenizer.json"))
    end = tokenizer.token_to_id(END)
    vocabulary = json.dumps({"size": tokenizer.get_vocab_size(), "end": end})
    for folder in (public, private):
        (folder / "vocabulary.json").write_text(vocabulary)
    with zipfile.ZipFile(raw / ARCHIVE) as archive:
        train = list(read_sources(archive, "babylm_10M", "train"))
        known = {line for lines in train for line in lines if len(line) >= TELLING}
        validation = choose_passages(read_sources(archive, "babylm_dev", "dev"), known)
        known |= {line for lines in validation for line in lines if len(line) >= TELLING}
        test = choose_passages(read_sources(archive, "babylm_test", "test"), known)
    np.save(public / "train.npy", encode(tokenizer, train, end))
    np.save(public / "validation.npy", encode(tokenizer, validation, end))
    np.save(private / "test.npy", encode(tokenizer, test, end))


def read_sources(archive: zipfile.ZipFile, folder: str, part: str) -> Iterator[list[str]]:
    """Give the lines of each source, without the blank ones, in the sources' order by name."""
    names = [name for name in archive.namelist() if name.endswith(f".{part}")]
    for name in sorted(name for name in names if name.startswith(f"babylm_data/{folder}/")):
        lines = archive.read(name).decode("utf-8").split("\n")
        yield [f"{line}\n" for line in lines if line.strip()]


def choose_passages(sources: Iterator[list[str]], known: set[str]) -> list[list[str]]:
    """Give passages at equal distances over all sources, of which no telling line is known."""
    passages: list[list[str]] = []
    for lines in sources:
        passage: list[str] = []
        for line in lines:
            passage.append(line)
            if sum(map(len, passage)) >= PASSAGE:
                passages.append(passage)
                passage = []
    unknown = [passage for passage in passages if known.isdisjoint(passage)]
    count = min(PASSAGES, len(unknown))
    return [unknown[at * len(unknown) // count] for at in range(count)]


def encode(tokenizer: Any, texts: list[list[str]], end: int) -> np.ndarray[Any, Any]:
    """Give the tokens of texts, each line by itself, one text after the other with an end each."""
    tokens: list[int] = []
    for lines in texts:
        for start in range(0, len(lines), 10_000):
            for line in tokenizer.encode_batch(lines[start : start + 10_000]):
                tokens += line.ids
        tokens.append(end)
    return np.array(tokens, dtype=np.uint16)
