"""Mark essays of English language learners, by ridge regression over words and pieces of words."""

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler

MEASURES = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]


def describe(essays):
    """Give an essay's length, and how long its words and sentences are and how many differ."""
    rows = []
    for essay in essays:
        words, sentences = essay.split(), essay.count(".") + essay.count("!") + essay.count("?")
        count = max(len(words), 1)
        rows.append(
            [
                np.log(count),
                sum(map(len, words)) / count,
                np.log(count / max(sentences, 1)),
                len({word.lower() for word in words}) / count**0.5,
                essay.count(",") / count,
                essay.count("\n\n"),
            ]
        )
    return np.array(rows)


train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
essays, marks = train["full_text"], train[MEASURES].to_numpy()

features = make_union(
    TfidfVectorizer(sublinear_tf=True, min_df=3, max_features=20_000, ngram_range=(1, 2)),
    TfidfVectorizer(
        sublinear_tf=True, min_df=3, max_features=20_000, analyzer="char_wb", ngram_range=(2, 4)
    ),
    make_pipeline(FunctionTransformer(describe), StandardScaler(), FunctionTransformer(np.tanh)),
)
model = make_pipeline(features, Ridge(alpha=2.0))

held_out = np.arange(len(train)) % 4 == 0
model.fit(essays[~held_out], marks[~held_out])
error = root_mean_squared_error(marks[held_out], model.predict(essays[held_out]))
print(f"validation MCRMSE: {error:.4f}")

model.fit(essays, marks)
answers = pd.DataFrame(model.predict(test["full_text"]).clip(1, 5), columns=MEASURES)
answers.insert(0, "text_id", test["text_id"])
answers.to_csv("submission.csv", index=False)
