"""The metric by which submissions are judged, for the images that are held out."""

import numpy as np
from sklearn.metrics import roc_auc_score


def measure(shown, outside, rankings, confidence):
    """Give the mean of MAP@20 and 2 AUC - 1.

    For each image: the set of its categories, whether it shows an animal that training does not,
    the categories that are predicted, best first, and the confidence that it shows such an animal.
    """
    precision = np.mean([_average_precision(*pair) for pair in zip(shown, rankings, strict=True)])
    return (precision + 2 * roc_auc_score(outside, confidence) - 1) / 2


def _average_precision(relevant, ranking):
    ranking = list(ranking)[:20]
    first = [
        category in relevant and category not in ranking[:place]
        for place, category in enumerate(ranking)
    ]
    precisions = np.cumsum(first) / np.arange(1, len(ranking) + 1)
    return np.sum(precisions * first) / min(len(relevant), 20)
