# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""VGG-16 (Simonyan and Zisserman, 2014); names and sizes as in torchvision."""
import images
import torch
from alexnet import head
from torch import nn

DEPTHS = [2, 2, 3, 3, 3]


class Vgg(nn.Module):
    def __init__(self, channels, widths, hidden, grid, classes, dropout):
        super().__init__()
        layers = []
        for width, depth in zip(widths, DEPTHS):
            for _ in range(depth):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
                channels = width
            layers.append(nn.MaxPool2d(2, stride=2))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(grid)
        self.classifier = nn.Sequential(
            nn.Linear(channels * grid * grid, hidden), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(hidden, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


SETTINGS = {
    "tiny": dict(channels=1, widths=[2, 3, 3, 5, 5], hidden=7, grid=2, classes=10, dropout=0.0),
    "small": dict(channels=1, widths=[16, 32, 64, 96, 96], hidden=256, grid=1, classes=10, dropout=0.2),
    "full": dict(channels=3, widths=[64, 128, 256, 512, 512], hidden=4096, grid=7, classes=1000, dropout=0.5)
}
SIDES = {"tiny": 37, "small": 32, "full": 224}


def build(size):
    return Vgg(**SETTINGS[size])


def example(size, count):
    return images.random(count, SIDES[size], SETTINGS[size]["channels"], SETTINGS[size]["classes"])


def SIZES(size):
    return {"row": SETTINGS[size]["grid"], "column": SETTINGS[size]["grid"]}


loss, FIELDS = images.classify, images.FIELDS
NAMES, SEEN = head([0, 3, 6])
place = 0
for block, depth in enumerate(DEPTHS):
    for i in range(depth):
        NAMES += images.convolution("features.%d.%d" % (block, i), "features.%d" % (place + 2 * i))
    place += 2 * depth + 1
    SEEN += [["features.%d" % block, "features.%d" % (place - 1), images.IMAGE]]
