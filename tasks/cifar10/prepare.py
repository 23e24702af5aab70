"""Prepare the data: the images of CIFAR-10, in the source's own training and test set."""

import csv
import hashlib
import pickle
import tarfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_mlab import InfraError
from pytest_mlab.download import fetch

if TYPE_CHECKING:
    import numpy as np

URL = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
MD5 = "md5:c58f30108f718f92721af3b95e74349a"
"""As torchvision has it, too."""
FOLDER = "cifar-10-batches-py"
TRAINING = [f"data_batch_{number}" for number in range(1, 6)]
TEST = ["test_batch"]


def download(raw: Path) -> None:
    """Fetch the archive, 170 MB."""
    fetch(URL, raw / Path(URL).name, MD5)


def build(raw: Path, public: Path, private: Path) -> None:
    """Write images and the training set's labels for the agent, labels.csv for the scorer."""
    import numpy as np

    with tarfile.open(raw / Path(URL).name) as archive:
        test_images, test_labels = sort(*read_batches(archive, TEST))
        images, labels = sort(*read_batches(archive, TRAINING))
    # An image that is in both sets would be a test image whose label is given away.
    asked = {digest(image) for image in test_images}
    new = np.array([digest(image) not in asked for image in images])
    np.save(public / "train_images.npy", images[new])
    np.save(public / "train_labels.npy", labels[new])
    np.save(public / "test_images.npy", test_images)
    write_labels(private / "labels.csv", test_labels.tolist())


def read_batches(archive: tarfile.TarFile, names: list[str]) -> tuple["np.ndarray", "np.ndarray"]:
    """Give images (number, channel, row, column) and labels of some files, one after the other."""
    import numpy as np

    batches = [read_batch(archive, f"{FOLDER}/{name}") for name in names]
    images = np.concatenate([batch[b"data"] for batch in batches])
    labels = np.concatenate([np.array(batch[b"labels"], dtype=np.uint8) for batch in batches])
    return images.reshape(-1, 3, 32, 32), labels


def read_batch(archive: tarfile.TarFile, name: str) -> dict[bytes, Any]:
    """Read one of the archive's pickles; only what an array is made of can be in it."""
    try:
        file = archive.extractfile(name)
    except KeyError:
        raise InfraError(f"{archive.name}: has no {name}; it is not CIFAR-10's archive") from None
    assert file is not None
    batch: dict[bytes, Any] = ArrayUnpickler(file, encoding="bytes").load()
    return batch


class ArrayUnpickler(pickle.Unpickler):
    """Unpickles NumPy arrays, as Python 2 wrote them, and builtin containers; nothing else."""

    def __init__(self, file: IO[bytes], *, encoding: str) -> None:
        import numpy as np

        super().__init__(file, encoding=encoding)
        self._known = {
            ("numpy.core.multiarray", "_reconstruct"): lambda _, shape, kind: np.empty(shape, kind),
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
        }

    def find_class(self, module: str, name: str) -> Any:
        """Give what a pickle asks for by name, if it is one of the few."""
        try:
            return self._known[module, name]
        except KeyError:
            raise InfraError(
                f"a file of CIFAR-10 asks for {module}.{name} when it is unpickled, "
                "which no file of the original archive does; it was not loaded"
            ) from None


def sort(images: "np.ndarray", labels: "np.ndarray") -> tuple["np.ndarray", "np.ndarray"]:
    """Order images by a hash of their pixels.

    An image's place in the test set is its id: it is to have nothing to do with the image's label,
    nor with its place in the source.
    """
    order = sorted(range(len(images)), key=lambda at: digest(images[at]))
    return images[order], labels[order]


def digest(image: "np.ndarray") -> bytes:
    """Give a hash of an image's pixels."""
    return hashlib.sha256(image.tobytes()).digest()


def write_labels(file: Path, labels: list[int]) -> None:
    """Write the labels as a table; an image's id is its place in the array of images."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([("id", "label"), *enumerate(labels)])
