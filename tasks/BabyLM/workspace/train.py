"""Train a small GPT-2 from scratch on the BabyLM corpus."""

import torch
from model import GPT2, cut_windows, measure_perplexity, read_tokens
from torch.nn import functional

LAYERS = 4
HEADS = 4
WIDTH = 256
CONTEXT = 256
BATCH = 16
EPOCHS = 1
LEARNING_RATE = 5e-5

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
device = "cuda" if torch.cuda.is_available() else "cpu"

model = GPT2(LAYERS, HEADS, WIDTH, CONTEXT).to(device)
inputs, targets = cut_windows(read_tokens("train.npy"), CONTEXT)
optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
batches = [batch for _ in range(EPOCHS) for batch in torch.randperm(len(inputs)).split(BATCH)]
for step, batch in enumerate(batches):
    for group in optimizer.param_groups:
        group["lr"] = LEARNING_RATE * (1 - step / len(batches))
    logits = model(inputs[batch].to(device))
    loss = functional.cross_entropy(logits.flatten(0, 1), targets[batch].flatten().to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step} of {len(batches)}: loss {loss.item():.3f}", flush=True)

perplexity = measure_perplexity(model, read_tokens("validation.npy"), device)
print(f"validation perplexity: {perplexity:.3f}")
model.save("model.safetensors")
