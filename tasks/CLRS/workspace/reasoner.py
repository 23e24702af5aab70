"""Run a network that is to find shortest paths, as the scorer does, and write it to a file."""

import numpy as np
from safetensors.numpy import save_file


def look(distances, known, by):
    """Give the six inputs of each pair (i, j): distance and "known" of (i, j), (i, by), (by, j)."""
    size = len(distances)
    first = [np.repeat(part[:, by : by + 1], size, axis=1) for part in (distances, known)]
    second = [np.repeat(part[by : by + 1], size, axis=0) for part in (distances, known)]
    return np.stack([distances, known, *first, *second], axis=-1).reshape(-1, 6)


def start(graph):
    """Give what is known before the first step: distances, which are known, and pointers."""
    size = len(graph)
    known = (graph + np.eye(size, dtype=np.float32) != 0).astype(np.float32)
    return graph.astype(np.float32), known, np.repeat(np.arange(size)[:, None], size, axis=1)


def run(layers, graph):
    """Give the predecessor of j on the path from i that the network finds, for each pair."""
    distances, known, pointers = start(graph)
    for by in range(len(graph)):
        values = look(distances, known, by)
        for number, (weight, bias) in enumerate(layers, start=1):
            values = values @ weight + bias
            if number < len(layers):
                values = np.maximum(values, 0)
        change = (values[:, 0] > 0).reshape(graph.shape)
        lengths = np.clip(np.nan_to_num(values[:, 1]), -1e6, 1e6).reshape(graph.shape)
        distances = np.where(change, lengths, distances)
        known = np.where(change, np.float32(1), known)
        pointers = np.where(change, pointers[by], pointers)
    return pointers


def list_steps(graph):
    """Give the inputs of every step of the algorithm itself, whether it changes, and to what."""
    distances, known, _ = start(graph)
    inputs, changes, lengths = [], [], []
    for by in range(len(graph)):
        inputs.append(look(distances, known, by))
        sums = distances[:, by : by + 1] + distances[by : by + 1]
        reached = (known[:, by : by + 1] > 0) & (known[by : by + 1] > 0)
        change = reached & ((known == 0) | (sums < distances))
        distances = np.where(change, sums, distances)
        known = np.where(reached, np.float32(1), known)
        changes.append(change.ravel())
        lengths.append(distances.ravel())
    return np.concatenate(inputs), np.concatenate(changes), np.concatenate(lengths)


def write(layers, file):
    """Write layers, pairs of a weight and a bias, for the scorer."""
    tensors = {}
    for number, (weight, bias) in enumerate(layers, start=1):
        tensors[f"weight.{number}"] = np.ascontiguousarray(weight, np.float32)
        tensors[f"bias.{number}"] = np.ascontiguousarray(bias, np.float32)
    save_file(tensors, file)
