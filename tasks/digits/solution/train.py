"""Recognise handwritten digits with a support vector machine."""

import csv
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.svm import SVC


def read(file):
    """Give the rows of a CSV file as numbers; its first line names the columns."""
    with Path(file).open(encoding="utf-8") as stream:
        return np.array(list(csv.reader(stream))[1:], dtype=float)


train, test = read("data/train.csv"), read("data/test.csv")
pixels, digits = train[:, 1:-1], train[:, -1].astype(int)

model = SVC(C=10.0, gamma=0.001)

held_out = np.arange(len(train)) % 4 == 0
model.fit(pixels[~held_out], digits[~held_out])
accuracy = accuracy_score(digits[held_out], model.predict(pixels[held_out]))
print(f"validation accuracy: {accuracy:.4f}")

model.fit(pixels, digits)
answers = np.column_stack([test[:, 0], model.predict(test[:, 1:])])
np.savetxt("submission.csv", answers, fmt="%d", delimiter=",", header="id,digit", comments="")
