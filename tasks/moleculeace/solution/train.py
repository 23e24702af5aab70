"""Predict how strongly molecules bind, by support vectors over pieces of their SMILES."""

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import root_mean_squared_error
from sklearn.svm import SVR

train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")

pieces = TfidfVectorizer(analyzer="char", ngram_range=(1, 5), lowercase=False, min_df=3)
molecules = pieces.fit_transform(train["smiles"])
affinities = train["affinity"].to_numpy()

model = SVR(C=10.0, epsilon=0.1)

held_out = np.arange(len(train)) % 4 == 0
model.fit(molecules[~held_out], affinities[~held_out])
error = root_mean_squared_error(affinities[held_out], model.predict(molecules[held_out]))
print(f"validation RMSE: {error:.4f}")

model.fit(molecules, affinities)
predictions = model.predict(pieces.transform(test["smiles"]))
answers = pd.DataFrame({"id": test["id"], "affinity": predictions})
answers.to_csv("submission.csv", index=False)
