# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AlexNet (Krizhevsky, 2014; names and sizes as in torchvision)."""
import torch
from torch import nn
from torch.nn import functional as F


class AlexNet(nn.Module):
    def __init__(self, channels, widths, hidden, grid, classes, dropout):
        super().__init__()
        a, b, c, d, e = widths
        self.features = nn.Sequential(
            nn.Conv2d(channels, a, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, stride=2),
            nn.Conv2d(a, b, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, stride=2),
            nn.Conv2d(b, c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(c, d, 3, padding=1), nn.ReLU(),
            nn.Conv2d(d, e, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, stride=2))
        self.avgpool = nn.AdaptiveAvgPool2d(grid)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(e * grid * grid, hidden), nn.ReLU(),
            nn.Dropout(dropout), nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


SETTINGS = {
    "tiny": dict(channels=1, widths=[2, 3, 5, 3, 2], hidden=7, grid=2, classes=5, dropout=0.0),
    "small": dict(channels=1, widths=[32, 64, 96, 64, 64], hidden=256, grid=1, classes=10, dropout=0.2),
    "full": dict(channels=3, widths=[64, 192, 384, 256, 256], hidden=4096, grid=6, classes=1000, dropout=0.5)
}
SIDE = {"tiny": 65, "small": 64, "full": 224}


def build(size):
    return AlexNet(**SETTINGS[size])


def example(size, count):
    setting = SETTINGS[size]
    return {"image": torch.randn(count, setting["channels"], SIDE[size], SIDE[size]),
            "label": torch.randint(setting["classes"], (count,))}


def loss(module, batch):
    scores = module(batch["image"])
    right = scores.argmax(1) == batch["label"]
    return F.cross_entropy(scores, batch["label"].long()), {"accuracy": right.to(scores.dtype).mean()}


def SIZES(size):
    grid = SETTINGS[size]["grid"]
    return {"row": grid, "column": grid}


FIELDS = {"image": ["batch", "channel", "row", "column"], "label": ["batch"]}
CONVOLUTIONS = [["features.0", "features.0"], ["features.1", "features.3"], ["features.2", "features.6"],
                ["features.3", "features.8"], ["features.4", "features.10"]]
NAMES = [[ours + ".weight", theirs + ".weight", ["out", "channel", "row_k", "column_k"]] for ours, theirs in CONVOLUTIONS]
NAMES += [[ours + ".bias", theirs + ".bias", ["out"]] for ours, theirs in CONVOLUTIONS]
NAMES += [["classifier.0.weight", "classifier.1.weight", ["hidden", "channel row column"]],
          ["classifier.0.bias", "classifier.1.bias", ["hidden"]],
          ["classifier.1.weight", "classifier.4.weight", ["out", "hidden"]],
          ["classifier.1.bias", "classifier.4.bias", ["out"]],
          ["classifier.2.weight", "classifier.6.weight", ["class", "hidden"]],
          ["classifier.2.bias", "classifier.6.bias", ["class"]]]
IMAGE = ["batch", "channel", "row", "column"]
SEEN = [["features.0", "features.2", IMAGE], ["features.1", "features.5", IMAGE], ["features.2", "features.7", IMAGE],
        ["features.3", "features.9", IMAGE], ["features.4", "features.12", IMAGE],
        ["classifier.0", "classifier.2", ["batch", "hidden"]], ["classifier.1", "classifier.5", ["batch", "hidden"]],
        ["classifier.2", "classifier.6", ["batch", "class"]]]
