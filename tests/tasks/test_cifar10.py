"""The task on CIFAR-10, on an archive as the source has it, with fewer and simpler images."""

import functools
import hashlib
import io
import pickle
import struct
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from pytest_mlab import InfraError, InvalidSubmission
from pytest_mlab.arrays import Array
from pytest_mlab.children.prepare import COMPLETE
from pytest_mlab.data import PreparedData
from tests.tasks.bundled import FOLDER, BundledTask, load_module, load_scorer, read, write

PREPARER = FOLDER / "cifar10" / "prepare.py"
ARCHIVE = "cifar-10-python.tar.gz"
BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
ROWS = 240
COLUMNS = ["id", *map(str, range(10))]


@pytest.mark.torch
class TestCifar10(BundledTask):
    name = "cifar10"

    def write_raw(self, raw: Path) -> None:
        write_archive(raw / ARCHIVE, dict(zip(BATCHES, draw_batches(), strict=True)))
        # It has not the checksum of the source's: without this, it would be refused.
        (raw / COMPLETE).write_text(hashlib.sha256(PREPARER.read_bytes()).hexdigest())

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        *training, (images, labels) = draw_batches()
        batches = [*training, (images, 9 - labels)]
        write_archive(raw / ARCHIVE, dict(zip(BATCHES, batches, strict=True)))

    def test_agents_get_the_images_of_both_sets_and_the_labels_of_one(
        self, data: PreparedData
    ) -> None:
        names = ["test_images.npy", "train_images.npy", "train_labels.npy"]
        assert sorted(path.name for path in data.public.iterdir()) == names
        arrays = {name: np.load(data.public / name, allow_pickle=False) for name in names}
        assert arrays["test_images.npy"].shape == (ROWS, 3, 32, 32)
        assert arrays["train_images.npy"].shape == (5 * ROWS - 1, 3, 32, 32)
        assert {array.dtype for array in arrays.values()} == {np.dtype(np.uint8)}
        labels = read(data.private / "labels.csv")
        assert [row["id"] for row in labels] == [str(number) for number in range(ROWS)]

    def test_each_image_keeps_its_label(self, data: PreparedData) -> None:
        source = {
            image.tobytes(): label
            for images, labels in draw_batches()
            for image, label in zip(images, labels, strict=True)
        }
        test = np.load(data.public / "test_images.npy")
        answers = [int(row["label"]) for row in read(data.private / "labels.csv")]
        assert [source[image.tobytes()] for image in test] == answers
        train = np.load(data.public / "train_images.npy")
        assert [source[image.tobytes()] for image in train] == np.load(
            data.public / "train_labels.npy"
        ).tolist()

    def test_no_training_image_is_a_test_image(self, data: PreparedData) -> None:
        """The generated source has one that is both."""
        train, test = (
            {image.tobytes() for image in np.load(data.public / f"{part}_images.npy")}
            for part in ("train", "test")
        )
        assert not train & test
        sources = [{image.tobytes() for image in images} for images, _ in draw_batches()]
        assert set.union(*sources[:5]) & sources[5]

    def test_places_say_nothing_about_the_source(self, data: PreparedData) -> None:
        """Neither the order of the source nor, in it, that of the classes shines through."""
        images, _ = draw_batches()[5]
        places = {image.tobytes(): place for place, image in enumerate(images)}
        test = np.load(data.public / "test_images.npy")
        order = [places[image.tobytes()] for image in test]
        assert abs(np.corrcoef(order, np.arange(ROWS))[0, 1]) < 4 / np.sqrt(ROWS)


class TestReading:
    def test_a_pickle_that_wants_to_run_something_is_refused(self, tmp_path: Path) -> None:
        witness = tmp_path / "ran"
        write_tar(tmp_path / ARCHIVE, {"test_batch": pickle.dumps(Touch(witness))})
        with pytest.raises(InfraError, match=r"asks for \S+ when it is unpickled"):
            build(tmp_path)
        assert not witness.exists()

    def test_an_archive_of_something_else_is_an_error_that_says_so(self, tmp_path: Path) -> None:
        write_tar(tmp_path / ARCHIVE, {"readme.html": b""})
        with pytest.raises(InfraError, match="has no cifar-10-batches-py/test_batch; it is not"):
            build(tmp_path)

    def test_the_generated_files_are_what_any_unpickler_reads(self) -> None:
        """That is, the generator writes Python 2's pickles, as the source has them."""
        images, labels = draw_batches()[0]
        batch = pickle.loads(pickle_as_python2(images, labels, "batch"), encoding="latin1")
        assert (batch["data"].dtype, batch["data"].shape) == (np.dtype(np.uint8), images.shape)
        assert batch["data"].tobytes() == images.tobytes()
        assert batch["labels"] == labels.tolist()
        assert (batch["batch_label"], batch["filenames"][1]) == ("batch", "1.png")


class TestMetric:
    def test_it_is_scikit_learns_accuracy_of_the_likeliest_class(self, tmp_path: Path) -> None:
        random = np.random.default_rng(0)
        truth = random.integers(10, size=200)
        # Drawn from few values, so that the highest is often there twice: argmax takes the first.
        given = random.integers(4, size=(200, 10)) / 4
        order = random.permutation(200)
        found = score(tmp_path, truth, ((at, *given[at]) for at in order))
        assert found == pytest.approx(accuracy_score(truth, given.argmax(axis=1)))
        assert 0 < found < 1

    @pytest.mark.parametrize(
        ("row", "accuracy"),
        [
            ([0.1] * 10, 0.5),  # all alike: the first class
            ([0.0] * 9 + [1e-9], 0.5),
            ([-5.0, *[-7.0] * 8, -6.0], 0.5),  # need not be probabilities
            ([0.0, 1.0, *[0.0] * 8], 0.0),
        ],
    )
    def test_cases_by_hand(self, tmp_path: Path, row: list[float], accuracy: float) -> None:
        assert score(tmp_path, [0, 9], ((at, *row) for at in range(2))) == accuracy

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([(0, *[0.1] * 10)], "has 1 rows, but 2 are asked for"),
            ([(0, *[0.1] * 10), (1, "nan", *[0.1] * 9)], '0 of id 1 is "nan"'),
            ([(0, *[0.1] * 10), (1, *[0.1] * 9, "cat")], '9 of id 1 is "cat"'),
            ([(0, *[0.1] * 10)] * 2, "is there twice"),
            ([(0, *[0.1] * 10), (2, *[0.1] * 10)], 'id "2" is none of the 2'),
        ],
    )
    def test_what_is_no_submission(
        self, tmp_path: Path, rows: list[tuple[object, ...]], message: str
    ) -> None:
        with pytest.raises(InvalidSubmission, match=message):
            score(tmp_path, [0, 9], rows)

    def test_every_class_needs_its_column(self, tmp_path: Path) -> None:
        write(tmp_path / "labels.csv", ["id", "label"], [(0, 3)])
        submission = write(tmp_path / "submission.csv", ["id", "label"], [(0, 3)])
        with pytest.raises(InvalidSubmission, match='column "0" is missing'):
            load_scorer("cifar10")(submission, tmp_path)

    def test_it_is_the_metric_of_fashion_mnist(self) -> None:
        """The offline sibling: what holds of the one's scorer holds of the other's."""
        one, other = (FOLDER / name / "score.py" for name in ("cifar10", "fashion-mnist"))
        assert one.read_text(encoding="utf-8") == other.read_text(encoding="utf-8")


def score(folder: Path, truth: Iterable[int], rows: Iterable[tuple[object, ...]]) -> float:
    """Score the rows of a submission against the labels of images 0, 1, 2, …"""
    write(folder / "labels.csv", ["id", "label"], enumerate(truth))
    return load_scorer("cifar10")(write(folder / "submission.csv", COLUMNS, rows), folder)


def build(raw: Path) -> None:
    """Run the task's preparation on a raw download, for its errors."""
    for name in ("public", "private"):
        (raw / name).mkdir()
    load_module(PREPARER).build(raw, raw / "public", raw / "private")


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._path,)


Batch = tuple[NDArray[np.uint8], NDArray[np.int64]]


@functools.cache
def draw_batches() -> list[Batch]:
    """Draw images (rows of 3072 bytes) and labels of the five training batches and the test's.

    A class is a direction and a width of stripes; colour, shift and much noise are at random. One
    image is in a training batch and in the test batch.
    """
    random = np.random.default_rng(0)
    rows, columns = np.mgrid[:32, :32] / 32
    batches = []
    for _ in BATCHES:
        labels = random.integers(10, size=ROWS)
        angles, waves = np.pi * (labels % 5) / 5, 2.0 + 2.5 * (labels // 5)
        along = np.cos(angles)[:, None, None] * rows + np.sin(angles)[:, None, None] * columns
        phases = random.uniform(0, np.pi, size=(ROWS, 1, 1))
        stripes = np.sin(2 * np.pi * waves[:, None, None] * along + phases)
        colours = random.uniform(0.4, 1, size=(ROWS, 3, 1, 1))
        noise = random.normal(size=(ROWS, 3, 32, 32))
        images = 128 + 110 * colours * stripes[:, None] + 25 * noise
        batches.append((images.clip(0, 255).astype(np.uint8).reshape(ROWS, -1), labels))
    batches[2][0][7], batches[2][1][7] = batches[5][0][11], batches[5][1][11]
    return batches


def write_archive(file: Path, batches: dict[str, Batch]) -> None:
    """Write CIFAR-10's archive."""
    contents = {name: pickle_as_python2(*batch, label=name) for name, batch in batches.items()}
    write_tar(file, contents | {"batches.meta": b"", "readme.html": b""})


def write_tar(file: Path, contents: dict[str, bytes]) -> None:
    """Write files into the archive's folder."""
    with tarfile.open(file, "w:gz", compresslevel=1) as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def pickle_as_python2(images: Array, labels: Array, label: str) -> bytes:
    """Pickle a batch as Python 2 did, protocol 2: strings are bytes, NumPy's modules the old ones.

    Python 3 has no way to write such strings, so the opcodes are put together here.
    """

    def string(value: bytes) -> bytes:
        return pickle.BINSTRING + struct.pack("<i", len(value)) + value

    def number(value: int) -> bytes:
        return pickle.BININT + struct.pack("<i", value)

    def name(module: str, attribute: str) -> bytes:
        return pickle.GLOBAL + f"{module}\n{attribute}\n".encode()

    def sequence(items: Iterable[bytes]) -> bytes:
        return pickle.EMPTY_LIST + pickle.MARK + b"".join(items) + pickle.APPENDS

    def several(*items: bytes) -> bytes:
        return pickle.MARK + b"".join(items) + pickle.TUPLE

    kind = name("numpy", "dtype") + several(string(b"u1"), number(0), number(1)) + pickle.REDUCE
    state = (number(3), string(b"|"), *[pickle.NONE] * 3, number(-1), number(-1), number(0))
    kind += several(*state) + pickle.BUILD
    array = name("numpy.core.multiarray", "_reconstruct")
    array += several(name("numpy", "ndarray"), several(number(0)), string(b"b")) + pickle.REDUCE
    shape = several(*map(number, images.shape))
    array += several(number(1), shape, kind, pickle.NEWFALSE, string(images.tobytes()))
    items = {
        b"data": array + pickle.BUILD,
        b"labels": sequence(number(int(value)) for value in labels),
        b"batch_label": string(label.encode()),
        b"filenames": sequence(string(f"{at}.png".encode()) for at in range(len(labels))),
    }
    pairs = b"".join(string(key) + value for key, value in items.items())
    return b"\x80\x02" + pickle.EMPTY_DICT + pickle.MARK + pairs + pickle.SETITEMS + pickle.STOP
