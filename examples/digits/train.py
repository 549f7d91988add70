#!/usr/bin/env python3
"""Trains the network of digits.g and writes digits.safetensors and expected.npy beside this script.

    pip install numpy torch safetensors; python3 train.py

The last 360 images are the test set: they are read once, at the end, and nothing is chosen by them.
The seed is chosen by the accuracy on the last 287 of the other 1,437 images, after training on the
first 1,150; the network that is kept is then trained with that seed on all 1,437. The sets are cut
by position because the images of one writer stand together.
"""
import math
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).parent
TESTS, HELD_OUT = 360, 287
SEEDS = range(6)
EPOCHS, BATCH = 120, 64


class Digits(nn.Module):
    """The same network, with the same parameter names, as digits.g."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(512, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, image):
        h = F.relu(self.conv1(image))
        h = F.max_pool2d(F.relu(self.conv2(h)), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(h, 1))))


def augmented(images):
    """Each image turned, sheared, scaled and moved a little, each in its own way."""
    n = len(images)

    def uniform(bound):
        return (torch.rand(n) * 2 - 1) * bound

    angle, shear = uniform(math.radians(15)), uniform(0.15)
    wide, high = 1 + uniform(0.12), 1 + uniform(0.12)
    cos, sin = torch.cos(angle), torch.sin(angle)
    rows = [cos * wide, (shear * cos - sin) * high, uniform(0.2),
            sin * wide, (shear * sin + cos) * high, uniform(0.2)]
    affine = torch.stack(rows, 1).reshape(n, 2, 3)
    grid = F.affine_grid(affine, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


def train(seed, images, labels):
    torch.manual_seed(seed)
    model = Digits()
    steps = EPOCHS * math.ceil(len(images) / BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH):
            logits = model(augmented(images[batch]))
            loss = F.cross_entropy(logits, labels[batch], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


@torch.no_grad()
def correct(model, images, labels):
    return (model(images).argmax(1) == labels).sum().item()


def main():
    torch.set_num_threads(1)
    images = torch.from_numpy(np.load(HERE / "images.npy")).float() / 16
    labels = torch.from_numpy(np.load(HERE / "labels.npy"))
    rest, test = slice(0, -TESTS), slice(-TESTS, None)
    fit, held_out = slice(0, -TESTS - HELD_OUT), slice(-TESTS - HELD_OUT, -TESTS)

    scores = {}
    for seed in SEEDS:
        model = train(seed, images[fit], labels[fit])
        scores[seed] = correct(model, images[held_out], labels[held_out])
        print(f"seed {seed}: {scores[seed]} of {HELD_OUT} held-out training images", flush=True)
    seed = max(SEEDS, key=lambda s: scores[s])

    model = train(seed, images[rest], labels[rest])
    hits = correct(model, images[test], labels[test])
    print(f"seed {seed} kept: {hits} of {TESTS} test images, {100 * hits / TESTS:.2f} %")

    save_file(model.state_dict(), HERE / "digits.safetensors")
    with torch.no_grad():
        expected = torch.softmax(model.double()(images[test].double()), dim=1)
    np.save(HERE / "expected.npy", expected.numpy().astype(np.float32))


if __name__ == "__main__":
    main()
