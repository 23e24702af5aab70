"""Predict which molecules inhibit HIV from how many atoms and bonds they have."""

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
SIZES = ["atoms", "bonds"]
molecules, active = train[SIZES], train["active"]

model = DecisionTreeClassifier(max_depth=2, random_state=0)

# The rows are in no particular order: every fourth one is held out to judge the model by.
held_out = np.arange(len(train)) % 4 == 0
model.fit(molecules[~held_out], active[~held_out])
area = roc_auc_score(active[held_out], model.predict_proba(molecules[held_out])[:, 1])
print(f"validation ROC-AUC: {area:.4f}")

# What is handed in comes from the same model, trained on all rows.
model.fit(molecules, active)
answers = pd.DataFrame({"id": test["id"], "active": model.predict_proba(test[SIZES])[:, 1]})
answers.to_csv("submission.csv", index=False)
