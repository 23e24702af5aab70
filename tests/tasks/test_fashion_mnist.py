"""The task on Fashion-MNIST, on the real images, and on files that a user has put there."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from pytest_mlab import InvalidSubmission, Unavailable
from pytest_mlab.arrays import Array
from pytest_mlab.data import PreparedData
from pytest_mlab.task import Task
from tests.tasks.bundled import FOLDER, BundledTask, load_module, load_scorer, read, write

SOURCE = Path("/usr/share/datasets/fashion-mnist")
COLUMNS = ["id", *map(str, range(10))]
PARTS = {"train": "train", "test": "t10k"}


@pytest.mark.skipif(not SOURCE.exists(), reason="apt-get install dataset-fashion-mnist")
class TestFashionMnist(BundledTask):
    name = "fashion-mnist"

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        for file in SOURCE.iterdir():
            (raw / file.name).write_bytes(file.read_bytes())
        labels = raw / "t10k-labels-idx1-ubyte.gz"
        content = gzip.decompress(labels.read_bytes())
        answers = 9 - np.frombuffer(content, np.uint8, offset=8)
        labels.write_bytes(gzip.compress(content[:8] + answers.tobytes(), 1))

    def test_agents_get_the_images_of_both_sets_and_the_labels_of_one(
        self, task: Task, data: PreparedData
    ) -> None:
        shapes = {
            path.name: np.load(path, mmap_mode="r", allow_pickle=False).shape
            for path in data.public.iterdir()
        }
        assert shapes == {
            "train_images.npy": (60_000, 28, 28),
            "train_labels.npy": (60_000,),
            "test_images.npy": (10_000, 28, 28),
        }
        for name in shapes:
            assert f"`data/{name}`" in task.instruction

    def test_each_image_keeps_its_label(self, data: PreparedData) -> None:
        """Held against the source, read in another way than the task does."""
        for part, prefix in PARTS.items():
            images = gzip.decompress((SOURCE / f"{prefix}-images-idx3-ubyte.gz").read_bytes())
            labels = gzip.decompress((SOURCE / f"{prefix}-labels-idx1-ubyte.gz").read_bytes())
            count = int.from_bytes(images[4:8], "big")
            source = {images[16 + 784 * n : 800 + 784 * n]: labels[8 + n] for n in range(count)}
            prepared = np.load(data.public / f"{part}_images.npy")
            if part == "train":
                given = np.load(data.public / "train_labels.npy").tolist()
            else:
                rows = read(data.private / "labels.csv")
                assert [row["id"] for row in rows] == [str(number) for number in range(count)]
                given = [int(row["label"]) for row in rows]
            assert [source[image.tobytes()] for image in prepared] == given

    def test_no_training_image_is_a_test_image(self, data: PreparedData) -> None:
        train, test = (
            {image.tobytes() for image in np.load(data.public / f"{part}_images.npy")}
            for part in PARTS
        )
        assert (len(train), len(test), len(train & test)) == (60_000, 10_000, 0)

    def test_neighbours_are_of_one_class_as_often_as_strangers(self, data: PreparedData) -> None:
        labels = np.array([row["label"] for row in read(data.private / "labels.csv")])
        assert np.mean(labels[1:] == labels[:-1]) == pytest.approx(0.1, abs=0.015)


class TestSource:
    def test_files_that_a_user_has_put_there_do_as_well(self, tmp_path: Path) -> None:
        random = np.random.default_rng(0)
        expected = {}
        for prefix, count in {"train": 30, "t10k": 20}.items():
            images = random.integers(256, size=(count, 28, 28), dtype=np.uint8)
            labels = random.integers(10, size=count, dtype=np.uint8)
            write_idx(tmp_path / f"{prefix}-images-idx3-ubyte.gz", images)
            write_idx(tmp_path / f"{prefix}-labels-idx1-ubyte.gz", labels)
            expected[prefix] = {
                image.tobytes(): label for image, label in zip(images, labels, strict=True)
            }
        data = build(tmp_path)
        train = np.load(data.public / "train_images.npy")
        assert [expected["train"][image.tobytes()] for image in train] == np.load(
            data.public / "train_labels.npy"
        ).tolist()
        test = np.load(data.public / "test_images.npy")
        answers = [int(row["label"]) for row in read(data.private / "labels.csv")]
        assert [expected["t10k"][image.tobytes()] for image in test] == answers

    def test_without_the_package_the_remedy_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = load_module(FOLDER / "fashion-mnist" / "prepare.py")
        monkeypatch.setattr(module, "PACKAGE", tmp_path / "not-installed")
        with pytest.raises(Unavailable, match="apt-get install dataset-fashion-mnist") as error:
            module.build(tmp_path, tmp_path, tmp_path)
        assert str(tmp_path) in str(error.value)


class TestMetric:
    def test_it_is_scikit_learns_accuracy_of_the_likeliest_class(self, tmp_path: Path) -> None:
        random = np.random.default_rng(0)
        truth = random.integers(10, size=200)
        # Drawn from few values, so that the highest is often there twice: argmax takes the first.
        given = random.integers(4, size=(200, 10)) / 4
        rows = ((at, *given[at]) for at in random.permutation(200))
        write(tmp_path / "labels.csv", ["id", "label"], enumerate(truth))
        submission = write(tmp_path / "submission.csv", COLUMNS, rows)
        found = load_scorer("fashion-mnist")(submission, tmp_path)
        assert found == pytest.approx(accuracy_score(truth, given.argmax(axis=1)))

    def test_classes_alone_are_no_submission(self, tmp_path: Path) -> None:
        write(tmp_path / "labels.csv", ["id", "label"], [(0, 3)])
        submission = write(tmp_path / "submission.csv", ["id", "label"], [(0, 3)])
        with pytest.raises(InvalidSubmission, match='column "0" is missing'):
            load_scorer("fashion-mnist")(submission, tmp_path)


def write_idx(file: Path, array: Array) -> None:
    """Write an array of bytes in the IDX format."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    file.write_bytes(gzip.compress(header + array.tobytes()))


def build(raw: Path) -> PreparedData:
    """Run the task's preparation on a raw download."""
    data = PreparedData(raw / "public", raw / "private")
    data.public.mkdir()
    data.private.mkdir()
    load_module(FOLDER / "fashion-mnist" / "prepare.py").build(raw, data.public, data.private)
    return data
