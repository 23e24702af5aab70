"""Score a submission: the perplexity of its weights, as those of a GPT-2, on hidden text.

The weights are numbers and the network is this file's: no code of the agent's runs here, and what
each token is predicted from are the tokens before it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_mlab import InvalidSubmission

Array = npt.NDArray[Any]

SMALLEST_HEAD = 16
LONGEST_CONTEXT = 2048
MOST_LAYERS = 48
ROWS_AT_ONCE = 256  # of probabilities over the whole vocabulary


def score(submission: Path, private: Path) -> float:
    """Give the perplexity per token, at least 1; lower is better."""
    vocabulary = json.loads((private / "vocabulary.json").read_text())
    tokens = np.load(private / "test.npy").astype(np.int64)
    model = read_model(submission, vocabulary["size"])
    with np.errstate(all="ignore"):
        surprises = list(measure(model, tokens, vocabulary["end"]))
        perplexity = float(np.exp(np.concatenate(surprises).mean()))
    if not np.isfinite(perplexity):
        raise InvalidSubmission(f"{submission.name}: its perplexity is {perplexity}")
    return perplexity


@dataclass(frozen=True)
class Model:
    """The weights of a GPT-2 by their names, and what their shapes do not tell."""

    weights: dict[str, Array]
    layers: int
    heads: int

    def affine(self, name: str, values: Array) -> Array:
        """Apply a layer of weights and bias."""
        return np.asarray(values @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])

    def normalise(self, name: str, values: Array) -> Array:
        """Apply a layer normalisation."""
        centred = values - values.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)
        return np.asarray(
            centred / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        )


def measure(model: Model, tokens: Array, end: int) -> Iterator[Array]:
    """Give -ln p of each token of each passage, given those before it as far as the context goes.

    Each passage ends with ``end``, which is not predicted, but is what its first token comes after.
    """
    context = len(model.weights["wpe.weight"])
    for passage in np.split(tokens, np.flatnonzero(tokens == end) + 1):
        targets = passage[passage != end]
        inputs = np.concatenate([[end], targets[:-1]]) if len(targets) else targets
        for start in range(0, len(targets), context):
            window = slice(start, start + context)
            yield find_surprises(model, inputs[window], targets[window])


def find_surprises(model: Model, inputs: Array, targets: Array) -> Array:
    """Give -ln p of each target, given the inputs up to its own place."""
    weights = model.weights
    values = weights["wte.weight"][inputs] + weights["wpe.weight"][: len(inputs)]
    for layer in range(model.layers):
        values = values + attend(model, f"h.{layer}", values)
        widened = model.affine(f"h.{layer}.mlp.c_fc", model.normalise(f"h.{layer}.ln_2", values))
        bent = (
            0.5
            * widened
            * (1 + np.tanh(0.7978845608 * (widened + 0.044715 * widened * widened * widened)))
        )
        values = values + model.affine(f"h.{layer}.mlp.c_proj", bent)
    values = model.normalise("ln_f", values)
    output = weights.get("lm_head.weight", weights["wte.weight"]).T
    surprises = np.empty(len(targets))
    for start in range(0, len(targets), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        scores = values[rows] @ output
        scores -= scores.max(axis=-1, keepdims=True)
        chosen = scores[np.arange(len(scores)), targets[rows]]
        surprises[rows] = np.log(np.exp(scores).sum(axis=-1, dtype=np.float64)) - chosen
    return surprises


def attend(model: Model, layer: str, values: Array) -> Array:
    """Apply masked self-attention, one head at a time."""
    mixed = model.affine(f"{layer}.attn.c_attn", model.normalise(f"{layer}.ln_1", values))
    queries, keys, contents = (
        np.split(part, model.heads, axis=-1) for part in np.split(mixed, 3, axis=-1)
    )
    later = np.triu(np.full((len(values), len(values)), -np.inf, dtype=np.float32), k=1)
    heads = []
    for query, key, content in zip(queries, keys, contents, strict=True):
        strength = query @ key.T / np.sqrt(np.float32(query.shape[-1])) + later
        strength = np.exp(strength - strength.max(axis=-1, keepdims=True))
        heads.append(strength / strength.sum(axis=-1, keepdims=True) @ content)
    return model.affine(f"{layer}.attn.c_proj", np.concatenate(heads, axis=-1))


def read_model(submission: Path, size: int) -> Model:
    """Read weights that have the names and shapes of a GPT-2's; raises `InvalidSubmission`."""
    from safetensors import SafetensorError, safe_open

    def refuse(problem: str) -> InvalidSubmission:
        return InvalidSubmission(f"{submission.name}: {problem}")

    try:
        with safe_open(submission, framework="np") as file:
            heads = str((file.metadata() or {}).get("n_head"))
            tensors = {
                name.removeprefix("transformer."): file.get_tensor(name)
                for name in file.keys()  # noqa: SIM118  # it is no mapping
                if not re.search(r"\.attn\.(masked_)?bias$", name)  # the mask of older versions
            }
    except (SafetensorError, TypeError, AttributeError) as error:  # bfloat16: not NumPy's
        raise refuse(f"cannot be read as float32 or float16: {error}") from None
    if not re.fullmatch(r"[1-9]\d{0,2}", heads):
        raise refuse(f'the metadata\'s n_head is {heads}; give the number of heads, such as "12"')
    embedding, places = (tensors.get(f"{name}.weight", np.empty(0)) for name in ("wte", "wpe"))
    if embedding.ndim != 2 or places.ndim != 2 or len(embedding) < size:
        raise refuse(f"wte.weight needs {size} rows or more, and wpe.weight one for each place")
    layers = sum(name.endswith(".ln_1.weight") for name in tensors)
    width, context = embedding.shape[1], len(places)
    if width % int(heads) or width // int(heads) < SMALLEST_HEAD or layers > MOST_LAYERS:
        raise refuse(
            f"has {layers} layers and {heads} heads of {width / int(heads):g}; "
            f"at most {MOST_LAYERS} layers and heads of {SMALLEST_HEAD} or more are evaluated"
        )
    if not SMALLEST_HEAD <= context <= LONGEST_CONTEXT:
        raise refuse(f"has {context} places; {SMALLEST_HEAD} to {LONGEST_CONTEXT} are evaluated")
    expected = dict(list_shapes(layers, width, len(embedding), context))
    if "lm_head.weight" in tensors:
        expected["lm_head.weight"] = embedding.shape
    for name in sorted(tensors.keys() | expected.keys()):
        shape = tensors[name].shape if name in tensors else "missing"
        if shape != expected.get(name) or tensors[name].dtype.kind != "f":
            wanted = expected.get(name, "nothing of this name")
            raise refuse(f"{name} is {shape}; a GPT-2 has {wanted}, in float32 or float16")
        if not np.isfinite(tensors[name]).all():
            raise refuse(f"{name} has values that are not finite")
    weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    return Model(weights, layers, int(heads))


def list_shapes(
    layers: int, width: int, size: int, context: int
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Give name and shape of each weight of a GPT-2."""
    yield "wte.weight", (size, width)
    yield "wpe.weight", (context, width)
    for layer in range(layers):
        for name, columns in (
            ("attn.c_attn", (width, 3 * width)),
            ("attn.c_proj", (width, width)),
            ("mlp.c_fc", (width, 4 * width)),
            ("mlp.c_proj", (4 * width, width)),
        ):
            yield f"h.{layer}.{name}.weight", columns
            yield f"h.{layer}.{name}.bias", columns[1:]
    norms = [f"h.{layer}.{name}" for layer in range(layers) for name in ("ln_1", "ln_2")]
    for name in [*norms, "ln_f"]:
        yield f"{name}.weight", (width,)
        yield f"{name}.bias", (width,)
