"""Predict for every image the animals that are most common, without looking at it."""

import ast
import csv
import json
from collections import Counter
from pathlib import Path

from metric import measure

RANKED = 20


def predict(train, names):
    """Give for each image categories, best first, and a confidence that it is out of sample.

    ``train`` has the categories of each training image. An image is ``data/images/<name>.png``.
    """
    counts = Counter(category for categories in train.values() for category in categories)
    ranking = [category for category, _ in counts.most_common(RANKED)]
    return [ranking for _ in names], [0.5 for _ in names]


with Path("data/multilabel_classification/train.csv").open() as file:
    shown = {
        row["id"]: {int(number) for number in ast.literal_eval(row["categories"])}
        for row in csv.DictReader(file)
    }
with Path("data/object_detection/eval.json").open() as file:
    asked = [Path(image["file_name"]).stem for image in json.load(file)["images"]]

# Judged as the test set is made: of rare animals, all pictures are held out, until these are an
# eighth, and of the other pictures, which are in no particular order, every sixth.
counts = Counter(category for categories in shown.values() for category in categories)
outside = set()
for rare in sorted(counts, key=lambda category: (counts[category], category)):
    if len(outside) < len(shown) / 8:
        outside |= {name for name, categories in shown.items() if rare in categories}
inside = [name for name in shown if name not in outside]
held_out = [*sorted(outside), *inside[::6]]
rankings, confidence = predict(
    {name: shown[name] for name in shown if name not in set(held_out)}, held_out
)
truth = [name in outside for name in held_out]
figure = measure([shown[name] for name in held_out], truth, rankings, confidence)
print(f"validation (MAP@20+sAUC)/2: {figure:.4f}")

with Path("submission.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "categories", "osd"])
    for name, ranking, osd in zip(asked, *predict(shown, asked), strict=True):
        writer.writerow([name, " ".join(map(str, ranking)), f"{osd:.6f}"])
