"""Prepare the data: pictures of the sea floor, split by the kinds of animals on them."""

import ast
import csv
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pytest_mlab.download import fetch, fetch_competition

COMPETITION = "fathomnet-out-of-sample-detection"
LABELS = "multilabel_classification/train.csv"
DETECTION = "object_detection/train.json"
LEAST, MOST = 1 / 8, 1 / 6
"""How many of all images may show an animal that is withheld from training."""
KEPT = ("file_name", "width", "height")
"""What agents are told of an image: its address leads to its labels, its time to its neighbours."""


def download(raw: Path) -> None:
    """Fetch the competition's archive, and the labelled images, which are elsewhere."""
    archive = fetch_competition(COMPETITION, raw)
    with zipfile.ZipFile(archive) as source:
        images = json.loads(source.read(DETECTION))["images"]
    with ThreadPoolExecutor(max_workers=8) as pool:
        fetched = pool.map(
            lambda image: fetch(image["coco_url"], raw / "images" / image["file_name"]), images
        )
        for _ in fetched:
            pass


def build(raw: Path, public: Path, private: Path) -> None:
    """Write images and the training set's labels for the agent, labels.csv for the scorer."""
    with zipfile.ZipFile(raw / f"{COMPETITION}.zip") as archive:
        rows = csv.DictReader(io.StringIO(archive.read(LABELS).decode()))
        shown = {row["id"]: read_categories(row["categories"]) for row in rows}
        source = json.loads(archive.read(DETECTION))
        (public / "category_key.csv").write_bytes(archive.read("category_key.csv"))
    unseen = choose_unseen(shown)
    outside = {name for name, categories in shown.items() if categories & unseen}
    inside = sorted(shown.keys() - outside, key=shuffle)
    test = sorted(outside.union(inside[: len(outside)]))
    copies = {file_digest(raw, name) for name in test}
    others = sorted(shown.keys() - {*test})
    train = [name for name in others if file_digest(raw, name) not in copies]

    (public / "images").mkdir()
    for name in (*train, *test):
        shutil.copyfile(raw / "images" / f"{name}.png", public / "images" / f"{name}.png")
    (public / "multilabel_classification").mkdir()
    labels = [(name, [float(category) for category in sorted(shown[name])]) for name in train]
    write(public / LABELS, ["id", "categories"], labels)
    (public / "object_detection").mkdir()
    for file, names in (("train.json", train), ("eval.json", test)):
        content = json.dumps(select(source, names, annotated=file == "train.json"))
        (public / "object_detection" / file).write_text(content, encoding="utf-8")
    answers = ((name, spell(shown[name]), int(name in outside)) for name in test)
    write(private / "labels.csv", ["id", "categories", "osd"], answers)


def read_categories(text: str) -> frozenset[int]:
    """Read a list such as "[1.0, 9.0]"."""
    return frozenset(int(number) for number in ast.literal_eval(text))


def spell(categories: Iterable[int]) -> str:
    """Give categories as a submission has them."""
    return " ".join(str(category) for category in sorted(categories))


def choose_unseen(shown: dict[str, frozenset[int]]) -> frozenset[int]:
    """Choose the categories that are withheld from training, always the same ones.

    They come in an arbitrary order; those that too many images show are passed over, and there are
    enough of them when an eighth of the images shows one.
    """
    unseen: frozenset[int] = frozenset()
    for category in sorted(frozenset().union(*shown.values()), key=shuffle):
        more = unseen | {category}
        share = sum(not more.isdisjoint(categories) for categories in shown.values()) / len(shown)
        if share <= MOST:
            unseen = more
        if LEAST <= share <= MOST:
            break
    return unseen


def shuffle(thing: object) -> bytes:
    """Give a key that puts things in an order that has nothing to do with them."""
    return hashlib.sha256(str(thing).encode()).digest()


def file_digest(raw: Path, name: str) -> bytes:
    """Give a hash of an image's file."""
    with (raw / "images" / f"{name}.png").open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def select(source: dict[str, Any], names: Sequence[str], *, annotated: bool) -> dict[str, Any]:
    """Give the part of a COCO file that is about some images, numbered anew."""
    by_name = {Path(image["file_name"]).stem: image for image in source["images"]}
    numbers = {by_name[name]["id"]: number for number, name in enumerate(names, start=1)}
    images = [
        {"id": number, **{key: by_name[name][key] for key in KEPT}}
        for number, name in enumerate(names, start=1)
    ]
    part = {"images": images, "categories": source["categories"]}
    if annotated:
        ours = [note for note in source["annotations"] if note["image_id"] in numbers]
        part["annotations"] = [
            note | {"id": number, "image_id": numbers[note["image_id"]]}
            for number, note in enumerate(ours, start=1)
        ]
    return part


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
