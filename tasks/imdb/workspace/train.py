"""Tell positive from negative movie reviews, by naive Bayes over the most frequent words."""

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

VALIDATION = 3000  # reviews that the model is judged by
REVIEWS = 3000  # of the others, that it learns from; there are 9,373

labelled, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")

# The rows are in no particular order: the first are as good as any.
held_out, train = labelled[:VALIDATION], labelled[VALIDATION:][:REVIEWS]

model = make_pipeline(CountVectorizer(max_features=200), MultinomialNB(alpha=1.0))
model.fit(train["text"], train["label"])
accuracy = model.score(held_out["text"], held_out["label"])
print(f"validation accuracy: {accuracy:.4f}")

negative, positive = model.predict_proba(test["text"]).T
answers = pd.DataFrame({"id": test["id"], "negative": negative, "positive": positive})
answers.to_csv("submission.csv", index=False)
