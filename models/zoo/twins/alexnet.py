# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AlexNet (Krizhevsky, 2014); names and sizes as in torchvision."""
import images
import torch
from torch import nn


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
    "tiny": dict(channels=1, widths=[2, 3, 5, 3, 2], hidden=7, grid=2, classes=10, dropout=0.0),
    "small": dict(channels=1, widths=[32, 64, 96, 64, 64], hidden=256, grid=1, classes=10, dropout=0.2),
    "full": dict(channels=3, widths=[64, 192, 384, 256, 256], hidden=4096, grid=6, classes=1000, dropout=0.5)
}
SIDES = {"tiny": 65, "small": 64, "full": 224}


def build(size):
    return AlexNet(**SETTINGS[size])


def example(size, count):
    return images.random(count, SIDES[size], SETTINGS[size]["channels"], SETTINGS[size]["classes"])


def SIZES(size):
    return {"row": SETTINGS[size]["grid"], "column": SETTINGS[size]["grid"]}


def head(numbers):
    """The linear maps of `classifier`, and their outputs after ReLU."""
    first, second, third = ["classifier.%d" % number for number in numbers]
    names = images.linear("classifier.layers.0", first, "hidden", "channel row column")
    names += images.linear("classifier.layers.1", second, "out", "hidden")
    names += images.linear("classifier.layers.2", third, "class", "hidden")
    seen = [["classifier.0", "classifier.%d" % (numbers[0] + 1), ["batch", "hidden"]],
            ["classifier.1", "classifier.%d" % (numbers[1] + 1), ["batch", "hidden"]],
            ["classifier.2", third, ["batch", "class"]]]
    return names, seen


loss, FIELDS = images.classify, images.FIELDS
NAMES, SEEN = head([1, 4, 6])
for ours, theirs, last in [(0, 0, 2), (1, 3, 5), (2, 6, 7), (3, 8, 9), (4, 10, 12)]:
    NAMES += images.convolution("features.%d" % ours, "features.%d" % theirs)
    SEEN += [["features.%d" % ours, "features.%d" % last, images.IMAGE]]
