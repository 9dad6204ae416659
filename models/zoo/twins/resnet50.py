# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-50 (He et al., 2016); names and sizes as in torchvision."""
import images
import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        outs = 4 * width
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, outs, 1, bias=False), nn.BatchNorm2d(outs)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride > 1 or channels != outs:
            self.downsample = nn.Sequential(nn.Conv2d(channels, outs, 1, stride, bias=False), nn.BatchNorm2d(outs))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, channels, width, depths, pools, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 7, stride=2, padding=3, bias=False)
        self.bn1, self.relu = nn.BatchNorm2d(width), nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1) if pools else nn.Identity()
        channels = width
        for i, depth in enumerate(depths):
            blocks = []
            for j in range(depth):
                blocks.append(Bottleneck(channels, width, 2 if i > 0 and j == 0 else 1))
                channels = 4 * width
            setattr(self, "layer%d" % (i + 1), nn.Sequential(*blocks))
            width *= 2
        self.layers = ["layer%d" % (i + 1) for i in range(len(depths))]
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for layer in self.layers:
            x = getattr(self, layer)(x)
        return self.fc(torch.mean(x, dim=(2, 3)))


SETTINGS = {
    "tiny": dict(channels=1, width=2, depths=[2, 1, 1], pools=True, classes=10),
    "small": dict(channels=1, width=16, depths=[2, 2, 2], pools=False, classes=10),
    "full": dict(channels=3, width=64, depths=[3, 4, 6, 3], pools=True, classes=1000)
}
SIDES = {"tiny": 19, "small": 32, "full": 224}
SAMPLES = 5


def build(size):
    return ResNet(**SETTINGS[size])


def example(size, count):
    return images.random(count, SIDES[size], SETTINGS[size]["channels"], SETTINGS[size]["classes"])


loss, FIELDS = images.classify, images.FIELDS
NAMES = images.convolution("stem.conv", "conv1", False) + images.batch_norm("stem.norm", "bn1")
NAMES += images.linear("last", "fc", "class", "channel")
SEEN = [["stem", "relu", images.IMAGE], ["last", "fc", ["batch", "class"]]]
for layer in range(4):
    for part in range(3):
        ours, theirs = "layers.%d.*.parts.%d" % (layer, part), "layer%d.*.%%s%d" % (layer + 1, part + 1)
        NAMES += images.convolution(ours + ".conv", theirs % "conv", False)
        NAMES += images.batch_norm(ours + ".norm", theirs % "bn")
    ours, theirs = "layers.%d.*.shortcut" % layer, "layer%d.*.downsample" % (layer + 1)
    NAMES += images.convolution(ours + ".conv", theirs + ".0", False) + images.batch_norm(ours + ".norm", theirs + ".1")
    SEEN += [["layers.%d.%d" % (layer, i), "layer%d.%d" % (layer + 1, i), images.IMAGE] for i in range(23)]
