"""Find contrails by colours, contrast at several scales, lines and change, with boosted trees."""

import csv
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.signal import oaconvolve
from sklearn.ensemble import HistGradientBoostingClassifier

LABELLED = 4  # the image of a sequence that the mask belongs to
RECORDS = 300
HELD_OUT = 100
PIXELS_EACH = 1000
SHARES = np.geomspace(0.001, 0.2, 40)  # of all pixels, those that are called contrails: tried


def make_lines(length, directions):
    """Give kernels that average along lines through their middle."""
    reach = length // 2
    along = np.linspace(-reach, reach, 4 * length)
    kernels = []
    for angle in np.arange(directions) * np.pi / directions:
        kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
        rows = np.rint(reach + along * np.sin(angle)).astype(int)
        columns = np.rint(reach + along * np.cos(angle)).astype(int)
        kernel[rows, columns] = 1
        kernels.append(kernel / kernel.sum())
    return kernels


LINES = make_lines(length=15, directions=12)


def read_features(folder):
    """Give the features of all pixels of a record, (rows, columns, features)."""
    frames = slice(LABELLED - 1, LABELLED + 2)
    b11, b14, b15 = (
        np.load(folder / f"band_{band}.npy", mmap_mode="r")[..., frames] for band in (11, 14, 15)
    )
    before, split, after = np.moveaxis(b15 - b14, -1, 0)
    features = [split, (b14 - b11)[..., 1], b14[..., 1]]
    contrast = {width: split - gaussian_filter(split, width) for width in (1, 3, 8)}
    features += contrast.values()
    features += [split - before, split - after]
    # A contrail is a line: its average along itself stands out, a blob's in no direction.
    lines = np.stack([oaconvolve(contrast[8], line, mode="same") for line in LINES])
    lines.sort(axis=0)
    features += [lines[-1], lines[-1] - lines[len(LINES) // 2], lines[0]]
    features += [gaussian_filter(split, 3) - gaussian_filter(split, 8)]
    return np.stack(features, axis=-1).astype(np.float32)


def read_mask(folder):
    """Give a record's mask, (rows, columns), as true and false."""
    return np.load(folder / "human_pixel_masks.npy")[..., 0] > 0


def predict(model, folder):
    """Give for all pixels of a record how likely they are contrails."""
    features = read_features(folder)
    likely = model.predict_proba(features.reshape(-1, features.shape[-1]))[:, 1]
    return likely.reshape(features.shape[:-1])


def encode(mask):
    """Give a mask's runs as "start length start length ...", counted from 1 down the columns."""
    pixels = np.concatenate([[False], mask.T.ravel(), [False]])
    edges = np.flatnonzero(pixels[1:] != pixels[:-1]) + 1
    runs = zip(edges[::2], edges[1::2] - edges[::2], strict=True)
    return " ".join(f"{start} {length}" for start, length in runs) or "-"


# The records are in no particular order: the first ones are held out to judge the model by.
folders = sorted(Path("data/train").iterdir())
held = min(HELD_OUT, len(folders) // 4)
held_out, known = folders[:held], folders[held : held + RECORDS]

random = np.random.default_rng(seed=0)
samples = []
for folder in known:
    features, mask = read_features(folder), read_mask(folder)
    features, mask = features.reshape(-1, features.shape[-1]), mask.ravel()
    chosen = random.choice(len(mask), min(PIXELS_EACH, len(mask)), replace=False)
    samples.append((features[chosen], mask[chosen]))
features = np.concatenate([features for features, _ in samples])
contrail = np.concatenate([mask for _, mask in samples])

model = HistGradientBoostingClassifier(max_iter=150, random_state=0)
model.fit(features, contrail)

likely = np.stack([predict(model, folder) for folder in held_out])
masks = np.stack([read_mask(folder) for folder in held_out])
dice = {}
for threshold in np.quantile(likely, 1 - SHARES):
    found = likely > threshold
    dice[threshold] = 2 * np.sum(found & masks) / max(np.sum(found) + np.sum(masks), 1)
threshold = max(dice, key=dice.get)
print(f"validation Dice: {dice[threshold]:.4f}")

with Path("submission.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["record_id", "encoded_pixels"])
    for folder in sorted(Path("data/test").iterdir()):
        writer.writerow([folder.name, encode(predict(model, folder) > threshold)])
