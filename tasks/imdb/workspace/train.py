"""Tell positive from negative movie reviews, by naive Bayes over the most frequent words."""

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")

model = make_pipeline(CountVectorizer(max_features=200), MultinomialNB(alpha=1.0))

# The rows are in no particular order: every fourth one is held out to judge the model by.
held_out = np.arange(len(train)) % 4 == 0
model.fit(train["text"][~held_out], train["label"][~held_out])
accuracy = model.score(train["text"][held_out], train["label"][held_out])
print(f"validation accuracy: {accuracy:.4f}")

# What is handed in comes from the same model, trained on all rows.
model.fit(train["text"], train["label"])
negative, positive = model.predict_proba(test["text"]).T
answers = pd.DataFrame({"id": test["id"], "negative": negative, "positive": positive})
answers.to_csv("submission.csv", index=False)
