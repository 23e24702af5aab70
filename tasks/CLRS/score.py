"""Score a submission: how many predecessors on shortest paths its network finds.

The submission holds numbers and no code. What is computed from them here is a run of one network,
the same for every pair of nodes, on graphs that the agent has not seen.
"""

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_mlab import InvalidSubmission

INPUTS, OUTPUTS = 6, 2
WIDEST, DEEPEST = 128, 4

Array = npt.NDArray[Any]
Layers = list[tuple[Array, Array]]


def score(submission: Path, private: Path) -> float:
    """Give the fraction of right pointers, in [0, 1]; higher is better."""
    layers = read_layers(submission)
    graphs, answers = (np.load(private / f"{name}.npy") for name in ("graphs", "pointers"))
    right = [run(layers, graph) == answer for graph, answer in zip(graphs, answers, strict=True)]
    return float(np.mean(right))


def run(layers: Layers, graph: Array) -> Array:
    """Let the network look at each pair of nodes by way of every node in turn."""
    size = len(graph)
    known = (graph + np.eye(size, dtype=np.float32) != 0).astype(np.float32)
    distances = graph.astype(np.float32)
    pointers = np.repeat(np.arange(size)[:, None], size, axis=1)
    for by in range(size):
        first = [np.repeat(part[:, by : by + 1], size, axis=1) for part in (distances, known)]
        second = [np.repeat(part[by : by + 1], size, axis=0) for part in (distances, known)]
        values = np.stack([distances, known, *first, *second], axis=-1).reshape(-1, INPUTS)
        with np.errstate(over="ignore", invalid="ignore"):
            for number, (weight, bias) in enumerate(layers, start=1):
                values = values @ weight + bias
                if number < len(layers):
                    values = np.maximum(values, 0)
        change = (values[:, 0] > 0).reshape(size, size)
        # A network that has run away keeps to finite numbers.
        lengths = np.clip(np.nan_to_num(values[:, 1]), -1e6, 1e6).reshape(size, size)
        distances = np.where(change, lengths, distances)
        known = np.where(change, np.float32(1), known)
        pointers = np.where(change, pointers[by], pointers)
    return pointers


def read_layers(submission: Path) -> Layers:
    """Read weight.1 and bias.1, weight.2 and so on; raises `InvalidSubmission`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(submission.read_bytes())
    except (SafetensorError, KeyError) as error:  # KeyError: a type that NumPy does not have
        raise InvalidSubmission(f"{submission.name}: cannot be read: {error}") from None
    layers: Layers = []
    width = INPUTS
    for number in count(1):
        if f"weight.{number}" not in tensors or number > DEEPEST:
            break
        weight = tensors.pop(f"weight.{number}")
        bias = tensors.pop(f"bias.{number}", np.empty(0))
        where = f"{submission.name}: weight.{number}"
        if weight.ndim != 2 or weight.shape[0] != width or not 1 <= weight.shape[1] <= WIDEST:
            raise InvalidSubmission(
                f"{where} has the shape {weight.shape}; "
                f"give {width} rows and up to {WIDEST} columns"
            )
        if bias.shape != weight.shape[1:]:
            raise InvalidSubmission(
                f"{where} has {weight.shape[1]} columns, but bias.{number} the shape {bias.shape}"
            )
        if weight.dtype.kind != "f" or bias.dtype.kind != "f":
            raise InvalidSubmission(
                f"{where} is {weight.dtype}, its bias {bias.dtype}; give float32"
            )
        layer = weight.astype(np.float32), bias.astype(np.float32)
        if not all(np.isfinite(part).all() for part in layer):
            raise InvalidSubmission(f"{where} or its bias has values that are not finite")
        layers.append(layer)
        width = weight.shape[1]
    if tensors or not layers or width != OUTPUTS:
        raise InvalidSubmission(
            f"{submission.name}: give weight.1 and bias.1, then at most weight.{DEEPEST} and "
            f"bias.{DEEPEST}, none left out, the last of {OUTPUTS} columns; "
            f"left over: {', '.join(sorted(tensors)) or 'nothing'}"
        )
    return layers
