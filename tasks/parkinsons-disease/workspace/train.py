"""Predict the severity of Parkinson's disease, from the month of the visit alone."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

FEATURES = ["visit_month", "months_ahead"]


def percent_off(truth, prediction):
    """Give the errors of which the mean counts."""
    return 100 * np.abs(prediction - truth) / ((prediction + truth) / 2 + 1)


def look_ahead(visits, part):
    """Pair every visit with what the part's rating was then, and 6, 12 and 24 months later."""
    rated = visits[["patient_id", "visit_month", f"updrs_{part}"]].dropna()
    rated.columns = ["patient_id", "then", "rating"]
    pairs = visits[["patient_id", "visit_month"]].merge(rated, on="patient_id")
    pairs["months_ahead"] = pairs["then"] - pairs["visit_month"]
    return pairs[pairs["months_ahead"].isin([0, 6, 12, 24])]


visits = pd.concat(
    [
        pd.read_csv("data/train_clinical_data.csv"),
        pd.read_csv("data/supplemental_clinical_data.csv"),
    ]
)
test = pd.read_csv("data/test.csv")

model = RandomForestRegressor(n_estimators=30, random_state=0)

errors = []
for part in (1, 2, 3, 4):
    pairs = look_ahead(visits, part)
    # Every fifth patient is held out to judge the model by.
    held_out = pairs["patient_id"] % 5 == 0
    model.fit(pairs.loc[~held_out, FEATURES], pairs.loc[~held_out, "rating"])
    prediction = model.predict(pairs.loc[held_out, FEATURES])
    errors.append(percent_off(pairs.loc[held_out, "rating"], prediction.clip(min=0)))
    # What is handed in comes from the same model, trained on all patients.
    model.fit(pairs[FEATURES], pairs["rating"])
    asked = test["updrs"] == part
    test.loc[asked, "rating"] = model.predict(test.loc[asked, FEATURES]).clip(min=0)
print(f"validation SMAPE: {np.mean(np.concatenate(errors)):.3f}")

test[["prediction_id", "rating"]].to_csv("submission.csv", index=False)
