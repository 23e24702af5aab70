"""Train a small GPT-2 from scratch on the BabyLM corpus: longer, and faster learning."""

import math

import torch
from model import GPT2, cut_windows, measure_perplexity, read_tokens
from torch.nn import functional

LAYERS = 4
HEADS = 4
WIDTH = 256
CONTEXT = 256
BATCH = 16
EPOCHS = 8
LEARNING_RATE = 1e-3
WARM_UP = 0.05
WEIGHT_DECAY = 0.1
DROP = 0.1
MOST = 1.0  # that the gradients may be long

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
device = "cuda" if torch.cuda.is_available() else "cpu"

model = GPT2(LAYERS, HEADS, WIDTH, CONTEXT, DROP).to(device)
inputs, targets = cut_windows(read_tokens("train.npy"), CONTEXT)
optimizer = torch.optim.AdamW(
    model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.95), weight_decay=WEIGHT_DECAY
)
batches = [batch for _ in range(EPOCHS) for batch in torch.randperm(len(inputs)).split(BATCH)]
warm = math.ceil(WARM_UP * len(batches))
for step, batch in enumerate(batches):
    cooled = 0.5 + 0.5 * math.cos(math.pi * step / len(batches))
    for group in optimizer.param_groups:
        group["lr"] = LEARNING_RATE * min((step + 1) / warm, cooled)
    logits = model(inputs[batch].to(device))
    loss = functional.cross_entropy(logits.flatten(0, 1), targets[batch].flatten().to(device))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), MOST)
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step} of {len(batches)}: loss {loss.item():.3f}", flush=True)

perplexity = measure_perplexity(model, read_tokens("validation.npy"), device)
print(f"validation perplexity: {perplexity:.3f}")
model.save("model.safetensors")
