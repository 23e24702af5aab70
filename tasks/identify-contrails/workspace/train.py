"""Find contrails by the colours of each pixel alone."""

import csv
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

LABELLED = 4  # the image of a sequence that the mask belongs to
RECORDS = 300
HELD_OUT = 100
PIXELS_EACH = 1000
SHARE = 0.02  # of all pixels, those that are called contrails


def read_features(folder):
    """Give the features of all pixels of a record, (rows, columns, features)."""
    b11, b14, b15 = (
        np.load(folder / f"band_{band}.npy", mmap_mode="r")[..., LABELLED] for band in (11, 14, 15)
    )
    return np.stack([b15 - b14, b14 - b11, b14], axis=-1)


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

model = make_pipeline(StandardScaler(), LogisticRegression(C=1.0))
model.fit(features, contrail)
threshold = np.quantile(model.predict_proba(features)[:, 1], 1 - SHARE)

common = total = 0
for folder in held_out:
    found, mask = predict(model, folder) > threshold, read_mask(folder)
    common += np.sum(found & mask)
    total += np.sum(found) + np.sum(mask)
print(f"validation Dice: {2 * common / max(total, 1):.4f}")

with Path("submission.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["record_id", "encoded_pixels"])
    for folder in sorted(Path("data/test").iterdir()):
        writer.writerow([folder.name, encode(predict(model, folder) > threshold)])
