"""Recognise what small photographs show, with three wide layers and mirrored images."""

import numpy as np
import torch
from torch import nn

EPOCHS = 8
BATCH = 64
LEARNING_RATE = 0.01

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def read_images(file):
    """Give images (number, channel, row, column) of numbers from -2 (dark) to 2 (bright)."""
    return torch.from_numpy(np.load(file)).to(device).float() / 64 - 2


def make_network():
    """Give an untrained network, from images to a number for each class."""
    blocks = [
        nn.Sequential(
            nn.Conv2d(before, after, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        for before, after in ((3, 32), (32, 64), (64, 128))
    ]
    return nn.Sequential(
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 10),
    ).to(device)


@torch.no_grad()
def predict(network, images):
    """Give the probability of each class for each image."""
    network.eval()
    return torch.cat([network(part).softmax(dim=1) for part in images.split(1000)])


images = read_images("data/train_images.npy")
labels = torch.from_numpy(np.load("data/train_labels.npy")).to(device).long()

# The images are in no particular order: the first tenth is held out to judge the network by.
held_out = len(images) // 10
known_images, known_labels = images[held_out:], labels[held_out:]

network = make_network()
optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, LEARNING_RATE, epochs=EPOCHS, steps_per_epoch=-(-len(known_images) // BATCH)
)
for epoch in range(EPOCHS):
    network.train()
    total = 0.0
    for batch in torch.randperm(len(known_images)).split(BATCH):
        mirrored = torch.rand(len(batch), 1, 1, 1, device=device) < 0.5
        given = torch.where(mirrored, known_images[batch].flip(dims=[3]), known_images[batch])
        loss = nn.functional.cross_entropy(network(given), known_labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch + 1}: loss {total / len(known_images):.4f}")

right = predict(network, images[:held_out]).argmax(dim=1) == labels[:held_out]
print(f"validation accuracy: {right.float().mean().item():.4f}")

probabilities = predict(network, read_images("data/test_images.npy")).cpu().numpy()
np.savetxt(
    "submission.csv",
    np.column_stack([np.arange(len(probabilities)), probabilities]),
    fmt=["%d"] + ["%.6f"] * 10,
    delimiter=",",
    header="id,0,1,2,3,4,5,6,7,8,9",
    comments="",
)
