"""Recognise handwritten digits with a decision tree."""

import csv
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier


def read(file):
    """Give the rows of a CSV file as numbers; its first line names the columns."""
    with Path(file).open(encoding="utf-8") as stream:
        return np.array(list(csv.reader(stream))[1:], dtype=float)


train, test = read("data/train.csv"), read("data/test.csv")
pixels, digits = train[:, 1:-1], train[:, -1].astype(int)

model = DecisionTreeClassifier(max_depth=7, random_state=0)

# The rows are in no particular order: every fourth one is held out to judge the model by.
held_out = np.arange(len(train)) % 4 == 0
model.fit(pixels[~held_out], digits[~held_out])
accuracy = accuracy_score(digits[held_out], model.predict(pixels[held_out]))
print(f"validation accuracy: {accuracy:.4f}")

# What is handed in comes from the same model, trained on all rows.
model.fit(pixels, digits)
answers = np.column_stack([test[:, 0], model.predict(test[:, 1:])])
np.savetxt("submission.csv", answers, fmt="%d", delimiter=",", header="id,digit", comments="")
