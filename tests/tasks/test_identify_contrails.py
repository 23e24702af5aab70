"""The task on contrails, on an archive as Kaggle has it, with fewer and smaller images."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter  # type: ignore[import-untyped]
from sklearn.metrics import f1_score

from pytest_mlab import InfraError, InvalidSubmission, TaskError
from pytest_mlab.arrays import Array
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import FOLDER, BundledTask, load_module, load_scorer, read, write

COMPETITION = "google-research-identify-contrails-reduce-global-warming"
SIDE, TIMES = 64, 8
TRAINING, TEST = 30, 12
BANDS = [f"band_{number:02}.npy" for number in range(8, 17)]
COLUMNS = ["record_id", "encoded_pixels"]

TASK = FOLDER / "identify-contrails"
preparer = load_module(TASK / "prepare.py")
scorer = load_module(TASK / "score.py")


class TestIdentifyContrails(BundledTask):
    name = "identify-contrails"

    def write_raw(self, raw: Path) -> None:
        write_archive(raw / f"{COMPETITION}.zip")

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        write_archive(raw / f"{COMPETITION}.zip", turn_test_masks=True)

    def test_agents_get_all_but_the_masks_of_the_test_records(self, data: PreparedData) -> None:
        def files(part: str) -> set[str]:
            return {path.name for path in (data.public / part).rglob("*.npy")}

        assert files("test") == {*BANDS}
        assert files("train") == {*BANDS, "human_pixel_masks.npy", "human_individual_masks.npy"}
        top = {path.name for path in data.public.iterdir()}
        assert top == {"train", "test", "train_metadata.json", "test_metadata.json"}
        assert len([*(data.public / "train").iterdir()]) == TRAINING

    def test_each_test_record_keeps_its_mask(self, data: PreparedData) -> None:
        rows = {row["record_id"]: row for row in read(data.private / "labels.csv")}
        assert rows.keys() == {path.name for path in (data.public / "test").iterdir()}
        random = np.random.default_rng(1)
        for record, _, masks in draw_records(TEST, random):
            assert decode(rows[record]["encoded_pixels"]).tolist() == masks[..., 0].tolist()

    def test_no_record_is_in_both_sets(self, data: PreparedData) -> None:
        names = [{path.name for path in (data.public / part).iterdir()} for part in PARTS]
        assert not names[0] & names[1]


def test_an_archive_without_masks_is_an_error_that_says_so(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / f"{COMPETITION}.zip", "w") as archive:
        archive.writestr("test/1/band_08.npy", b"")
    with pytest.raises(InfraError, match=r"has no validation/\*/human_pixel_masks.npy"):
        preparer.build(tmp_path, tmp_path, tmp_path)


class TestRuns:
    @given(arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9))))
    def test_preparing_and_scoring_are_of_one_mind(self, mask: NDArray[np.bool_]) -> None:
        bits = scorer.decode(preparer.encode(mask), mask.size)
        assert bits.bit_count() == mask.sum()
        # Bit n is pixel n, counted from 1 down the columns.
        pixels = [bool(bits >> at & 1) for at in range(1, mask.size + 1)]
        assert np.reshape(pixels, mask.shape, order="F").tolist() == mask.tolist()

    def test_they_are_the_competitions_own_example(self) -> None:
        """'1 3 10 5' stands for the pixels 1, 2, 3, 10, 11, 12, 13, 14."""
        bits = scorer.decode("1 3 10 5", 256 * 256)
        assert [at for at in range(20) if bits >> at & 1] == [1, 2, 3, 10, 11, 12, 13, 14]

    def test_the_starter_writes_them_as_preparing_does(self) -> None:
        source = (TASK / "workspace" / "train.py").read_text(encoding="utf-8")
        start = source.index("def encode(")
        namespace = {"np": np}
        exec(source[start : source.index("\n\n\n", start)], namespace)
        encode = namespace["encode"]
        random = np.random.default_rng(0)
        for share in (0, 0.1, 0.5, 1):
            mask = random.random((7, 5)) < share
            assert encode(mask) == preparer.encode(mask)  # type: ignore[operator]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "is not pairs of whole numbers"),
            ("1", "is not pairs"),
            ("1 2 3", "is not pairs"),
            ("1 -2", "is not pairs"),
            ("1.0 2", "is not pairs"),
            ("¹ 2", "is not pairs"),
            ("0 2", "the run at 0 is not behind"),
            ("5 2 6 1", "the run at 6 is not behind the one before it"),
            ("9 1 1 1", "the run at 1 is not behind"),
            ("3 0", "the run at 3 of length 0 is not in 1 to 36"),
            ("36 2", "the run at 36 of length 2 is not in 1 to 36"),
            ("1 99", "the run at 1 of length 99 is not in 1 to 36"),
            ("1 " + "9" * 5000, "has a number beyond the 36 pixels"),
        ],
    )
    def test_what_is_no_mask_is_told_with_its_record(
        self, tmp_path: Path, text: str, message: str
    ) -> None:
        with pytest.raises(InvalidSubmission, match=f"record_id 70: {message}"):
            score(tmp_path, {"70": ("4 2", text)})

    def test_the_end_of_an_image_can_be_reached(self, tmp_path: Path) -> None:
        assert score(tmp_path, {"70": ("1 36", "1 36")}) == 1


class TestMetric:
    def test_it_is_the_dice_coefficient_of_all_pixels_together(self, tmp_path: Path) -> None:
        """Which, of yes and no, is scikit-learn's F1 score."""
        random = np.random.default_rng(0)
        masks = random.random((2, 20, 6, 6)) < np.linspace(0, 0.6, 20)[:, None, None]
        texts = [[preparer.encode(mask) for mask in half] for half in masks]
        records = {str(at): pair for at, pair in enumerate(zip(*texts, strict=True))}
        truth, found = masks.reshape(2, -1)
        assert score(tmp_path, records) == pytest.approx(f1_score(truth, found))

    @pytest.mark.parametrize(
        ("records", "dice"),
        [
            ({"7": ("1 4", "1 4"), "8": ("-", "-")}, 1.0),
            ({"7": ("1 4", "-"), "8": ("-", "-")}, 0.0),
            ({"7": ("1 4", "5 4"), "8": ("-", "-")}, 0.0),
            ({"7": ("1 4", "3 4"), "8": ("-", "-")}, 2 * 2 / 8),
            # Global: a mean over records would be (1 + 0) / 2.
            ({"7": ("1 9", "1 9"), "8": ("-", "1 1")}, 2 * 9 / 19),
            ({"7": ("1 1 3 1", "1 3"), "8": ("36 1", "36 1")}, 2 * 3 / 7),
        ],
    )
    def test_cases_by_hand(
        self, tmp_path: Path, records: dict[str, tuple[str, str]], dice: float
    ) -> None:
        assert score(tmp_path, records) == pytest.approx(dice)

    def test_ids_are_compared_to_the_last_digit(self, tmp_path: Path) -> None:
        """They are too long for a float."""
        records = {"1000834164244036115": ("1 4", "1 4"), "1000834164244036116": ("-", "9 4")}
        assert score(tmp_path, records) == pytest.approx(2 * 4 / 12)

    def test_a_mask_of_many_runs_can_be_handed_in(self, tmp_path: Path) -> None:
        text = " ".join(f"{at} 1" for at in range(1, 65536, 2))
        assert len(text) > 200_000
        assert score(tmp_path, {"7": (text, text)}, pixels=65536) == 1

    def test_labels_without_a_contrail_are_the_authors_fault(self, tmp_path: Path) -> None:
        with pytest.raises(TaskError, match="no record has a contrail"):
            score(tmp_path, {"7": ("-", "-")})


def score(folder: Path, records: dict[str, tuple[str, str]], pixels: int = 36) -> float:
    """Score masks against others: for each record, the labelled one and the submitted one."""
    labels = [(record, truth, pixels) for record, (truth, _) in records.items()]
    write(folder / "labels.csv", [*COLUMNS, "pixels"], labels)
    rows = [(record, found) for record, (_, found) in reversed(records.items())]
    return load_scorer("identify-contrails")(
        write(folder / "submission.csv", COLUMNS, rows), folder
    )


def decode(text: str) -> Array:
    """Give the mask that runs describe, the slow and plain way."""
    pixels = np.zeros(SIDE * SIDE, dtype=int)
    numbers = [] if text == "-" else [int(word) for word in text.split()]
    for start, length in zip(numbers[::2], numbers[1::2], strict=True):
        pixels[start - 1 : start - 1 + length] = 1
    return pixels.reshape(SIDE, SIDE).T


PARTS = ("train", "test")
Record = tuple[str, dict[str, Array], Array]


def write_archive(file: Path, *, turn_test_masks: bool = False) -> None:
    """Write Kaggle's archive; its masks of the validation records the right way up or not."""
    with zipfile.ZipFile(file, "w") as archive:

        def save(name: str, array: Array) -> None:
            stream = io.BytesIO()
            np.save(stream, array)
            archive.writestr(name, stream.getvalue())

        for seed, (part, count) in enumerate((("train", TRAINING), ("validation", TEST))):
            records = draw_records(count, np.random.default_rng(seed))
            for record, bands, masks in records:
                for name, band in bands.items():
                    save(f"{part}/{record}/{name}", band)
                if part == "train":
                    individual = np.repeat(masks[..., None], 4, axis=-1)
                    save(f"{part}/{record}/human_individual_masks.npy", individual)
                turned = masks[::-1] if turn_test_masks and part == "validation" else masks
                save(f"{part}/{record}/human_pixel_masks.npy", turned)
            about = [{"record_id": record, "row_min": 0.0} for record, _, _ in records]
            archive.writestr(f"{part}_metadata.json", json.dumps(about))
        for name in BANDS:
            save(f"test/1000834164244036115/{name}", np.zeros((SIDE, SIDE, TIMES), np.float32))
        archive.writestr("sample_submission.csv", "record_id,encoded_pixels\n")


def draw_records(count: int, random: np.random.Generator) -> list[Record]:
    """Draw records: id, bands and mask.

    Ice clouds show in the difference of bands 15 and 14, contrails as well as blobs; a contrail is
    a thin line, and is not there before the fifth image.
    """
    records = []
    rows, columns = np.mgrid[:SIDE, :SIDE]
    for _ in range(count):
        ground = 280 + 60 * gaussian_filter(random.normal(size=(SIDE, SIDE)), 6, mode="wrap")
        blobs = gaussian_filter(random.normal(size=(SIDE, SIDE)), 4, mode="wrap")
        ice = np.repeat(np.clip(25 * blobs - 1, 0, 2)[..., None], TIMES, axis=-1)
        mask = np.zeros((SIDE, SIDE), dtype=bool)
        for _ in range(random.integers(0, 3)):
            angle, row, column = random.uniform(0, np.pi), *random.uniform(0, SIDE, size=2)
            across = (rows - row) * np.cos(angle) - (columns - column) * np.sin(angle)
            along = (rows - row) * np.sin(angle) + (columns - column) * np.cos(angle)
            mask |= (abs(across) < 1) & (abs(along) < random.uniform(12, 25))
        ice[..., 4:] += 1.8 * mask[..., None]
        noise = iter(random.normal(scale=0.25, size=(10, SIDE, SIDE, TIMES)))
        bands = {name: ground[..., None] - 2 * ice + next(noise) for name in BANDS}
        bands["band_15.npy"] = bands["band_14.npy"] - 3 + ice + next(noise)
        bands = {name: band.astype(np.float32) for name, band in bands.items()}
        record = str(random.integers(10**18, 9 * 10**18))
        records.append((record, bands, mask[..., None].astype(np.int32)))
    return records
