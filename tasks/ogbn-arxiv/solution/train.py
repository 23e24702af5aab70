"""Tell what papers are about from their texts, those around them, and the subjects around them."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
texts = StandardScaler().fit_transform(np.load("data/features.npy"))
subjects = train["subject"].to_numpy()

count = len(texts)
links = sp.coo_array((np.ones(len(c := np.load("data/citations.npy"))), c.T), shape=(count, count))
links = ((links + links.T).tocsr() > 0).astype(np.float32)
mean = sp.diags_array(1 / np.maximum(links.sum(axis=1), 1)) @ links


def describe(known):
    """Give what a paper and those within two citations say, and the known subjects around it."""
    labels = np.zeros((count, subjects.max() + 1), dtype=np.float32)
    labels[train["id"][known], subjects[known]] = 1
    near, far = mean @ texts, mean @ (mean @ texts)
    return np.hstack([texts, near, far, mean @ labels, mean @ (mean @ labels)])


def predict(known, asked):
    """Train on the known rows of the training set, and give the subjects of other papers."""
    # Half of the rows lend their subjects to the papers around them, the other half is learnt.
    lent = known & (np.arange(len(train)) % 2 == 0)
    learnt = known & ~lent
    model = LogisticRegression(C=0.1, tol=0.001, max_iter=100)
    model.fit(describe(lent)[train["id"][learnt]], subjects[learnt])
    return model.predict(describe(known)[asked])


held_out = (train["year"] == train["year"].max()).to_numpy()
found = predict(~held_out, train["id"][held_out])
print(f"validation accuracy: {(found == subjects[held_out]).mean():.4f}")

everything = np.ones(len(train), dtype=bool)
answers = pd.DataFrame({"id": test["id"], "subject": predict(everything, test["id"])})
answers.to_csv("submission.csv", index=False)
