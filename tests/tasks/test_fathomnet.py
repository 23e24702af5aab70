"""The task on FathomNet, on an archive as Kaggle has it, with fewer and simpler pictures."""

import functools
import http.server
import io
import json
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from pytest_mlab import InvalidSubmission, TaskError
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import FOLDER, BundledTask, load_module, load_scorer, read, write

Image = pytest.importorskip("PIL.Image", reason="needs pillow: pip install 'pytest-mlab[tasks]'")

ARCHIVE = "fathomnet-out-of-sample-detection.zip"
PICTURES = 600
COMMON, RARE = 8, 24
COLUMNS = ["id", "categories", "osd"]

preparer = load_module(FOLDER / "fathomnet" / "prepare.py")
scorer = load_module(FOLDER / "fathomnet" / "score.py")
metric = load_module(FOLDER / "fathomnet" / "workspace" / "metric.py")


class TestFathomnet(BundledTask):
    name = "fathomnet"

    def write_raw(self, raw: Path) -> None:
        (raw / "images").mkdir()
        shown = draw_categories()
        for name, categories in shown.items():
            draw_picture(name, categories).save(raw / "images" / f"{name}.png")
        first, second = sorted(shown)[:2]
        (raw / "images" / f"{first}.png").write_bytes(
            (raw / "images" / f"{second}.png").read_bytes()
        )
        write_archive(raw / ARCHIVE, shown)

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        """Among the test pictures of either kind, each gets the categories of the next."""
        shown = draw_categories()
        labels = read(data.private / "labels.csv")
        for osd in "01":
            names = [row["id"] for row in labels if row["osd"] == osd]
            moved = {name: shown[after] for name, after in zip(names, rotate(names), strict=True)}
            shown |= moved
        write_archive(raw / ARCHIVE, shown)

    def test_agents_get_pictures_and_the_labels_of_the_training_set(
        self, data: PreparedData
    ) -> None:
        names = {path.relative_to(data.public).as_posix() for path in data.public.rglob("*.*")}
        assert {name for name in names if not name.endswith(".png")} == {
            "category_key.csv",
            "multilabel_classification/train.csv",
            "object_detection/eval.json",
            "object_detection/train.json",
        }
        train, test = load_coco(data, "train"), load_coco(data, "eval")
        pictures = [f"images/{image['file_name']}" for image in train["images"] + test["images"]]
        assert sorted(pictures) == sorted(name for name in names if name.endswith(".png"))
        assert "annotations" not in test

    def test_nothing_is_told_of_a_picture_but_its_name_and_size(self, data: PreparedData) -> None:
        for part in ("train", "eval"):
            images = load_coco(data, part)["images"]
            assert [image["id"] for image in images] == [*range(1, len(images) + 1)]
            assert {key for image in images for key in image} == {
                *("id", "file_name", "width", "height")
            }

    def test_out_of_sample_are_those_with_a_category_that_training_never_shows(
        self, data: PreparedData
    ) -> None:
        training = {name for row in read_training(data).values() for name in row}
        labels = read(data.private / "labels.csv")
        for row in labels:
            new = {int(word) for word in row["categories"].split()} - training
            assert row["osd"] == str(int(bool(new)))
        outside = sum(row["osd"] == "1" for row in labels)
        assert 2 * outside == len(labels)
        assert 1 / 8 <= outside / PICTURES <= 1 / 6

    def test_each_picture_keeps_its_labels(self, data: PreparedData) -> None:
        source = draw_categories()
        assert all(source[name] == row for name, row in read_training(data).items())
        for row in read(data.private / "labels.csv"):
            assert {int(word) for word in row["categories"].split()} == source[row["id"]]
        train = load_coco(data, "train")
        names = {image["id"]: Path(image["file_name"]).stem for image in train["images"]}
        noted: dict[str, set[int]] = {}
        for note in train["annotations"]:
            noted.setdefault(names[note["image_id"]], set()).add(note["category_id"])
        assert noted == read_training(data)

    def test_no_training_picture_is_a_test_picture(self, data: PreparedData) -> None:
        def contents(part: str) -> set[bytes]:
            images = load_coco(data, part)["images"]
            return {(data.public / "images" / image["file_name"]).read_bytes() for image in images}

        assert not contents("train") & contents("eval")


def test_pictures_are_fetched_from_where_the_archive_says(tmp_path: Path) -> None:
    """But for those that are there already; the archive itself has been put there by hand."""
    site, raw = tmp_path / "site", tmp_path / "raw"
    site.mkdir()
    (raw / "images").mkdir(parents=True)
    shown = dict([*draw_categories().items()][:5])
    there, *others = shown
    for name in others:
        (site / f"{name}.png").write_text(f"a picture of {shown[name]}")
    (raw / "images" / f"{there}.png").write_text("by hand")
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        write_archive(raw / ARCHIVE, shown, f"http://127.0.0.1:{server.server_port}")
        preparer.download(raw)
        server.shutdown()
    contents = {path.stem: path.read_text() for path in (raw / "images").iterdir()}
    assert contents == {there: "by hand"} | {name: f"a picture of {shown[name]}" for name in others}


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class TestWithholding:
    def test_passes_over_what_too_many_pictures_show(self) -> None:
        shown = {str(at): frozenset({1, 2 + at % 10}) for at in range(100)}
        unseen = preparer.choose_unseen(shown)
        assert 1 not in unseen
        share = sum(bool(categories & unseen) for categories in shown.values()) / 100
        assert share <= 1 / 6

    def test_does_not_depend_on_the_order_of_pictures(self) -> None:
        shown = draw_categories()
        turned = dict(reversed(shown.items()))
        assert preparer.choose_unseen(shown) == preparer.choose_unseen(turned)


class TestRanking:
    @pytest.mark.parametrize("ranking", [[1, 2, 3, 4, 5], [1, 1, 1, 1, 1], [1, 2, 1, 3, 1]])
    def test_the_competitions_own_examples(self, ranking: list[int]) -> None:
        assert scorer.average_precision({1}, ranking) == 1

    @pytest.mark.parametrize(
        ("relevant", "ranking", "precision"),
        [
            ({1}, [], 0),
            ({1}, [2, 3], 0),
            ({1}, [2, 1], 1 / 2),
            ({1, 2}, [1], 1 / 2),
            ({1, 2}, [2, 3, 1], (1 + 2 / 3) / 2),
            ({1, 2}, [1, 1, 2], (1 + 2 / 3) / 2),
            (set(range(1, 31)), list(range(1, 21)), 1),  # twenty is all that can be named
        ],
    )
    def test_cases_by_hand(self, relevant: set[int], ranking: list[int], precision: float) -> None:
        assert scorer.average_precision(relevant, ranking) == pytest.approx(precision)

    @given(st.sets(st.integers(1, 20), min_size=1), st.permutations(range(1, 21)))
    def test_of_all_categories_it_is_scikit_learns(
        self, relevant: set[int], ranking: list[int]
    ) -> None:
        truth = [category in relevant for category in ranking]
        expected = average_precision_score(truth, range(20, 0, -1))
        assert scorer.average_precision(relevant, ranking) == pytest.approx(expected)


class TestCurve:
    @given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2))
    def test_it_is_scikit_learns_with_many_ties(self, pairs: list[tuple[bool, int]]) -> None:
        outside, confidence = zip(*pairs, strict=True)
        if len(set(outside)) < 2:
            with pytest.raises(TaskError, match="osd is the same for all images"):
                scorer.area_under_curve(outside, confidence)
        else:
            expected = roc_auc_score(outside, confidence)
            assert scorer.area_under_curve(outside, confidence) == pytest.approx(expected)


class TestMetric:
    ANSWERS = (("a", "1 2", 1), ("b", "3", 0))

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ([("b", "3", 0.1), ("a", "2 1", 0.9)], 1.0),
            ([("a", "1 2", 0.1), ("b", "3", 0.9)], 0.0),  # right, and wrong way round
            ([("a", "", 0.5), ("b", "", 0.5)], 0.0),  # nothing named, all the same
            ([("a", "9", 0.1), ("b", "9", 0.9)], -0.5),
            ([("a", "1 " * 19 + "9 2", 0.9), ("b", "3", 0.1)], (0.75 + 1) / 2),  # 21st
        ],
    )
    def test_cases_by_hand(
        self, tmp_path: Path, rows: list[tuple[object, ...]], expected: float
    ) -> None:
        assert score(tmp_path, self.ANSWERS, rows) == pytest.approx(expected)

    def test_agents_are_given_the_same(self, tmp_path: Path) -> None:
        """The starter's own metric agrees with the hidden scorer's, repetitions included."""
        random = np.random.default_rng(0)
        shown = [{*random.integers(1, 9, size=random.integers(1, 4)).tolist()} for _ in range(40)]
        outside = random.random(40) < 0.5
        rankings = [random.integers(1, 9, size=random.integers(1, 25)).tolist() for _ in shown]
        confidence = random.integers(5, size=40) / 5
        expected = metric.measure(shown, outside, rankings, confidence)
        answers = [(at, spell(shown[at]), int(outside[at])) for at in range(40)]
        rows = [(at, spell(rankings[at]), confidence[at]) for at in range(40)]
        assert score(tmp_path, answers, rows) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (("a", "1 two", 0.5), "categories of id a has 'two'; give whole numbers from 1 to 290"),
            (("a", "0", 0.5), "categories of id a has '0'"),
            (("a", "291", 0.5), "categories of id a has '291'"),
            (("a", "9" * 5000, 0.5), "categories of id a has '99999999999999999999'"),
            (("a", "[1, 2]", 0.5), r"categories of id a has '\[1,'"),
            (("a", "1", "nan"), 'osd of id a is "nan"'),
            (("a", "1", ""), 'osd of id a is ""'),
            (("c", "1", 0.5), 'id "c" is none of the 2'),
        ],
    )
    def test_what_is_no_submission(
        self, tmp_path: Path, row: tuple[object, ...], message: str
    ) -> None:
        with pytest.raises(InvalidSubmission, match=message):
            score(tmp_path, self.ANSWERS, [row, ("b", "3", 0.1)])


def score(
    folder: Path, answers: Sequence[tuple[object, ...]], rows: Sequence[tuple[object, ...]]
) -> float:
    """Score the rows of a submission against answers."""
    write(folder / "labels.csv", COLUMNS, answers)
    return load_scorer("fathomnet")(write(folder / "submission.csv", COLUMNS, rows), folder)


def spell(categories: Sequence[int] | set[int]) -> str:
    return " ".join(map(str, categories))


def rotate(names: list[str]) -> list[str]:
    return [*names[1:], *names[:1]]


def load_coco(data: PreparedData, part: str) -> Any:
    """Read one of the prepared files in COCO's format."""
    return json.loads((data.public / "object_detection" / f"{part}.json").read_text())


def read_training(data: PreparedData) -> dict[str, set[int]]:
    """Read the categories of the training pictures."""
    rows = read(data.public / "multilabel_classification" / "train.csv")
    return {row["id"]: {int(float(n)) for n in row["categories"][1:-1].split(",")} for row in rows}


def draw_categories() -> dict[str, frozenset[int]]:
    """Draw the categories of pictures: a few common ones, and sometimes one of the rare."""
    random = np.random.default_rng(0)
    numbers = 1 + random.permutation(290)
    common, rare = numbers[:COMMON], numbers[COMMON : COMMON + RARE]
    shown = {}
    for _ in range(PICTURES):
        here = random.choice(common, size=random.integers(1, 3), replace=False).tolist()
        if random.random() < 0.5:
            here.append(int(common[0]))
        if random.random() < 0.5:
            here.append(int(random.choice(rare)))
        name = bytes(random.integers(256, size=16, dtype=np.uint8)).hex()
        groups = (name[:8], name[8:12], name[12:16], name[16:20], name[20:])
        shown["-".join(groups)] = frozenset(here)
    return shown


def draw_picture(name: str, categories: frozenset[int]) -> Any:
    """Draw a picture: animals are patches, each category of its own colour, on a murky ground."""
    random = np.random.default_rng(int(name[:8], 16))
    pixels = random.normal([60, 70, 90], 8, size=(54, 96, 3))
    for category in categories:
        colour = np.random.default_rng(category).uniform(0, 255, size=3)
        for _ in range(3):
            top, left = random.integers(0, 40), random.integers(0, 80)
            pixels[top : top + 14, left : left + 16] = colour + random.normal(0, 8, size=3)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def write_archive(
    file: Path, shown: dict[str, frozenset[int]], site: str = "https://fathomnet.example"
) -> None:
    """Write Kaggle's archive about pictures that show some categories."""
    images: list[dict[str, object]] = []
    annotations: list[dict[str, object]] = []
    for number, (name, categories) in enumerate(shown.items(), start=1):
        images.append(
            {"id": number, "file_name": f"{name}.png", "width": 96, "height": 54, "license": 0}
            | {"coco_url": f"{site}/{name}.png", "flickr_url": ""}
            | {"date_captured": "2014-07-22 15:33:44"}
        )
        for category in sorted(categories):
            note = {"id": len(annotations) + 1, "image_id": number, "category_id": category}
            annotations.append(note | {"bbox": [10.0, 10.0, 16.0, 14.0], "area": 224.0})
    key = [(number, f"Species {number}", "Fish") for number in range(1, 291)]
    coco = {
        "info": {"description": "FathomNet"},
        "licenses": [{"id": 0, "name": "CC BY-NC-ND 4.0"}],
        "categories": [{"id": n, "name": name, "supercategory": kind} for n, name, kind in key],
    }
    table = io.StringIO()
    print("id,categories", file=table)
    for name, categories in shown.items():
        print(f'{name},"{[float(number) for number in sorted(categories)]}"', file=table)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("multilabel_classification/train.csv", table.getvalue())
        content = json.dumps(coco | {"images": images, "annotations": annotations})
        archive.writestr("object_detection/train.json", content)
        archive.writestr("object_detection/eval.json", json.dumps(coco | {"images": []}))
        rows = "".join(f"{number},{name},{kind}\n" for number, name, kind in key)
        archive.writestr("category_key.csv", f"id,name,supercat\n{rows}")
        archive.writestr("sample_submission.csv", "id,categories,osd\n")
