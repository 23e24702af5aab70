"""Teach a network with a hidden layer the steps of Floyd-Warshall, and hand it in."""

import numpy as np
from reasoner import list_steps, run, write
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier

SIZES = (4, 7, 11, 13)
VALIDATION_SIZE = 16

with np.load("data/train.npz") as data:
    graphs = [graph for size in SIZES for graph in data[f"A_{size}"]]
    larger, answers = data[f"A_{VALIDATION_SIZE}"], data[f"Pi_{VALIDATION_SIZE}"]

steps = [list_steps(graph) for graph in graphs]
inputs, changes, lengths = (np.concatenate(part) for part in zip(*steps, strict=True))

chosen = np.random.default_rng(0).permutation(len(inputs))[:150_000]
gate = MLPClassifier(
    (16,), learning_rate_init=0.01, max_iter=20, n_iter_no_change=20, random_state=0
)
gate.fit(inputs[chosen], changes[chosen])
length = LinearRegression().fit(inputs[changes], lengths[changes])

# The hidden layer of the gate, beside the inputs themselves: none of them is below 0.
hidden, out = gate.coefs_
first = np.hstack([hidden, np.eye(6)])
second = np.zeros((len(out) + 6, 2))
second[: len(out), :1], second[len(out) :, 1] = out, length.coef_
biases = np.concatenate([gate.intercepts_[0], np.zeros(6)])
layers = [(first, biases), (second, np.array([gate.intercepts_[1][0], length.intercept_]))]

# Graphs larger than those learnt from, as those of the test are.
right = [run(layers, graph) == answer for graph, answer in zip(larger, answers, strict=True)]
print(f"validation CLRS score: {np.mean(right):.4f}")
write(layers, "model.safetensors")
