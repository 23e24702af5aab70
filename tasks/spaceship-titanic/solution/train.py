"""Tell which passengers were transported away, with gradient boosting on all that is known."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score

CATEGORIES = ["HomePlanet", "CryoSleep", "Destination", "VIP", "Deck", "Side"]
SPENDING = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]

train = pd.read_csv("data/train.csv")
test = pd.read_csv("data/test.csv")

both = pd.concat([train.drop(columns="Transported"), test])
both[["Deck", "Number", "Side"]] = both["Cabin"].str.split("/", expand=True)
group = both["PassengerId"].str.partition("_")[0]
encoded = pd.get_dummies(both[CATEGORIES].astype("object"), dtype=float)
encoded["Age"] = both["Age"]
encoded["Number"] = both["Number"].astype(float)
encoded["Companions"] = group.groupby(group).transform("size")
encoded[SPENDING] = np.log1p(both[SPENDING])
encoded["Total"] = np.log1p(both[SPENDING].sum(axis=1))
passengers, asked = encoded[: len(train)], encoded[len(train) :]
transported = train["Transported"]

model = HistGradientBoostingClassifier(learning_rate=0.05, max_iter=200, random_state=0)

held_out = np.arange(len(train)) >= 3 * len(train) // 4
model.fit(passengers[~held_out], transported[~held_out])
accuracy = accuracy_score(transported[held_out], model.predict(passengers[held_out]))
print(f"validation accuracy: {accuracy:.4f}")

model.fit(passengers, transported)
answers = pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": model.predict(asked)})
answers.to_csv("submission.csv", index=False)
