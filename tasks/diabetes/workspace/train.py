"""Predict how diabetes progresses within a year, with a regression tree."""

import csv
from pathlib import Path

import numpy as np
from sklearn.metrics import mean_absolute_error
from sklearn.tree import DecisionTreeRegressor


def read(file):
    """Give the rows of a CSV file as numbers; its first line names the columns."""
    with Path(file).open(encoding="utf-8") as stream:
        return np.array(list(csv.reader(stream))[1:], dtype=float)


train, test = read("data/train.csv"), read("data/test.csv")
measurements, progression = train[:, 1:-1], train[:, -1]

model = DecisionTreeRegressor(max_depth=6, random_state=0)

# The rows are in no particular order: every third one is held out to judge the model by.
held_out = np.arange(len(train)) % 3 == 0
model.fit(measurements[~held_out], progression[~held_out])
error = mean_absolute_error(progression[held_out], model.predict(measurements[held_out]))
print(f"validation MAE: {error:.3f}")

# What is handed in comes from the same model, trained on all rows.
model.fit(measurements, progression)
answers = np.column_stack([test[:, 0], model.predict(test[:, 1:])])
np.savetxt(
    "submission.csv",
    answers,
    fmt=["%d", "%.3f"],
    delimiter=",",
    header="id,progression",
    comments="",
)
