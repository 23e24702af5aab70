"""GPT-2 in PyTorch, with the names that its weights have in Hugging Face's Transformers."""

import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

VOCABULARY = json.loads(Path("data/vocabulary.json").read_text())
END = VOCABULARY["end"]


class GPT2(nn.Module):
    """The network; ``drop`` is how much of its inner values is left out in training."""

    def __init__(self, layers, heads, width, context, drop=0.0):
        super().__init__()
        self.heads, self.context = heads, context
        self.wte = nn.Embedding(VOCABULARY["size"], width)
        self.wpe = nn.Embedding(context, width)
        self.drop = nn.Dropout(drop)
        self.h = nn.ModuleList(Block(heads, width, drop) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.02)
            if name.endswith("c_proj.weight"):
                nn.init.normal_(weight, std=0.02 / (2 * layers) ** 0.5)

    def forward(self, tokens):
        """Give, for each place, the logits of the token that follows."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        values = self.drop(self.wte(tokens) + self.wpe(places))
        for block in self.h:
            values = block(values)
        return self.ln_f(values) @ self.wte.weight.T

    def save(self, file):
        """Write the weights as the scorer reads them."""
        weights = {name: weight.contiguous() for name, weight in self.state_dict().items()}
        save_file(weights, file, metadata={"n_head": str(self.heads)})


class Block(nn.Module):
    """Self-attention and a network of one hidden layer, each added to what comes in."""

    def __init__(self, heads, width, drop):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(heads, width, drop)
        self.mlp = nn.ModuleDict(
            {"c_fc": Affine(width, 4 * width), "c_proj": Affine(4 * width, width)}
        )
        self.drop = nn.Dropout(drop)

    def forward(self, values):
        values = values + self.attn(self.ln_1(values))
        widened = functional.gelu(self.mlp["c_fc"](self.ln_2(values)), approximate="tanh")
        return values + self.drop(self.mlp["c_proj"](widened))


class Attention(nn.Module):
    """Masked self-attention: no place sees a later one."""

    def __init__(self, heads, width, drop):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = Affine(width, 3 * width), Affine(width, width)
        self.drop = nn.Dropout(drop)

    def forward(self, values):
        batch, length, width = values.shape
        query, key, content = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.c_attn(values).split(width, dim=-1)
        )
        mixed = functional.scaled_dot_product_attention(query, key, content, is_causal=True)
        return self.drop(self.c_proj(mixed.transpose(1, 2).reshape(batch, length, width)))


class Affine(nn.Module):
    """A linear layer whose weights stand as GPT-2 has them, inputs by outputs."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, values):
        return values @ self.weight + self.bias


def read_tokens(name):
    """Give the tokens of a file of data/."""
    return torch.from_numpy(np.load(Path("data") / name).astype(np.int64))


def cut_windows(tokens, context):
    """Give inputs and targets: the text in pieces of ``context`` tokens, each after an END."""
    targets = tokens[: len(tokens) // context * context].view(-1, context)
    start = torch.full((len(targets), 1), END)
    return torch.cat([start, targets[:, :-1]], dim=1), targets


@torch.no_grad()
def measure_perplexity(model, tokens, device):
    """Give the perplexity on passages, each ended by END, as it is measured at the end."""
    model.eval()
    surprise = count = 0
    ends = (tokens == END).nonzero()[:, 0] + 1
    for passage in tokens.tensor_split(ends):
        targets = passage[passage != END]
        inputs = torch.cat([torch.tensor([END]), targets[:-1]])
        for start in range(0, len(targets), model.context):
            window = slice(start, start + model.context)
            logits = model(inputs[None, window].to(device))[0].float()
            surprise += functional.cross_entropy(
                logits, targets[window].to(device), reduction="sum"
            ).item()
        count += len(targets)
    return float(np.exp(surprise / count))
