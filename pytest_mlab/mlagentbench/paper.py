"""What the paper's own folders measure; the format leaves that to their readers.

Metrics and directions are what each folder's ``scripts/eval.py`` computes, and Table 1 of Huang,
Vora, Liang and Leskovec, MLAgentBench, ICML 2024 (arXiv 2310.03302).
"""

from dataclasses import dataclass

from pytest_mlab.task import Metric


@dataclass(frozen=True)
class PaperTask:
    """One of the paper's tasks.

    ``labels_at`` says where the agent can read the test labels, if it can. ``timed`` marks the
    task whose score is the run time that the submission itself reports. ``requires`` names
    versions without which the starter does not run.
    """

    metric: Metric
    labels_at: str = ""
    timed: bool = False
    requires: tuple[str, ...] = ()


PAPER = {
    "CLRS": PaperTask(Metric("accuracy", "maximize", 1.0)),
    "amp-parkinsons-disease-progression-prediction": PaperTask(Metric("SMAPE", "minimize", 0.0)),
    "babylm": PaperTask(Metric("perplexity", "minimize", 1.0)),
    "cifar10": PaperTask(
        Metric("accuracy", "maximize", 1.0), labels_at="data/cifar-10-batches-py/test_batch"
    ),
    "fathomnet": PaperTask(Metric("score", "maximize", 1.0)),  # of MAP@20 and normalised AUC
    "feedback": PaperTask(Metric("MCRMSE", "minimize", 0.0)),
    "house-price": PaperTask(Metric("MAE", "minimize", 0.0)),
    "identify-contrails": PaperTask(Metric("Dice", "maximize", 1.0)),
    "imdb": PaperTask(
        Metric("accuracy", "maximize", 1.0), labels_at="the data set's own split named test"
    ),
    "ogbn-arxiv": PaperTask(Metric("accuracy", "maximize", 1.0), labels_at="networks/ogbn_arxiv"),
    "spaceship-titanic": PaperTask(Metric("accuracy", "maximize", 1.0)),
    # It sets single elements to arrays of one element, which NumPy 2.4 no longer takes.
    "vectorization": PaperTask(
        Metric("time", "minimize", 0.0), timed=True, requires=("numpy<2.4",)
    ),
}
