"""Predict the severity of Parkinson's disease: medians of its logarithm, by schedule and proteins.

The error is about that of the logarithm of rating + 1, in absolute terms: its median is what to
predict, not the mean. When patients came, and whether they gave a sample, says how ill they are.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor

PROTEINS = 20


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


def describe(rows, visits, proteins):
    """Give the features of rows, each of which names a patient, a month and months ahead."""
    months = visits.groupby("patient_id")["visit_month"]
    features = rows[["visit_month", "months_ahead"]].copy()
    features["then"] = rows["visit_month"] + rows["months_ahead"]
    features["visits"] = rows["patient_id"].map(months.nunique())
    features["last"] = rows["patient_id"].map(months.max())
    for month in (3, 6, 18):
        came = set(visits.loc[visits["visit_month"] == month, "patient_id"])
        features[f"came_{month}"] = rows["patient_id"].isin(came)
    level = np.log(proteins.pivot_table(index="patient_id", columns="UniProt", values="NPX"))
    features["sampled"] = rows["patient_id"].isin(level.index)
    level = (level[common] - usual).reindex(rows["patient_id"]).set_axis(rows.index)
    return features.join(level.fillna(0.0))


visits = pd.concat(
    [
        pd.read_csv("data/train_clinical_data.csv"),
        pd.read_csv("data/supplemental_clinical_data.csv"),
    ]
)
test = pd.read_csv("data/test.csv")
proteins = pd.read_csv("data/train_proteins.csv")
test_proteins = pd.read_csv("data/test_proteins.csv")
both = set(proteins["UniProt"]) & set(test_proteins["UniProt"])
frequent = proteins["UniProt"].value_counts().index
common = [name for name in frequent if name in both][:PROTEINS]
usual = np.log(proteins["NPX"]).groupby(proteins["UniProt"]).mean()[common]

model = GradientBoostingRegressor(
    loss="absolute_error", subsample=0.5, min_samples_leaf=20, random_state=0
)

errors = []
test_features = describe(test, test[["patient_id", "visit_month"]].drop_duplicates(), test_proteins)
for part in (1, 2, 3, 4):
    pairs = look_ahead(visits, part).reset_index(drop=True)
    features, rating = describe(pairs, visits, proteins), np.log1p(pairs["rating"])
    held_out = pairs["patient_id"] % 5 == 0
    model.fit(features[~held_out], rating[~held_out])
    prediction = np.expm1(model.predict(features[held_out])).clip(min=0)
    errors.append(percent_off(pairs.loc[held_out, "rating"], prediction))
    model.fit(features, rating)
    asked = test["updrs"] == part
    test.loc[asked, "rating"] = np.expm1(model.predict(test_features[asked])).clip(min=0)
print(f"validation SMAPE: {np.mean(np.concatenate(errors)):.3f}")

test[["prediction_id", "rating"]].to_csv("submission.csv", index=False)
