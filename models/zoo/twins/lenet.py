# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LeNet (LeCun et al., 1998) with ReLUs and maxima."""
import images
import torch
from torch import nn
from torch.nn import functional as F


class LeNet(nn.Module):
    def __init__(self, narrow, wide, grid, hidden, out):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, narrow, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2))
        self.second = nn.Sequential(nn.Conv2d(narrow, wide, 5), nn.ReLU(), nn.MaxPool2d(2))
        self.wide = nn.Sequential(nn.Linear(wide * grid * grid, hidden), nn.ReLU())
        self.middle = nn.Sequential(nn.Linear(hidden, out), nn.ReLU())
        self.last = nn.Linear(out, 10)

    def forward(self, x):
        x = torch.flatten(self.second(self.first(x)), 1)
        return self.last(self.middle(self.wide(x)))


LARGE = dict(narrow=6, wide=16, grid=5, hidden=120, out=84)
SETTINGS = {"tiny": dict(narrow=2, wide=3, grid=2, hidden=7, out=5), "small": LARGE, "full": LARGE}


def build(size):
    return LeNet(**SETTINGS[size])


def example(size, count):
    return images.random(count, 16 if size == "tiny" else 28)


def SIZES(size):
    return {"row": SETTINGS[size]["grid"], "column": SETTINGS[size]["grid"]}


loss, FIELDS = images.classify, images.FIELDS
NAMES = (images.convolution("first", "first.0") + images.convolution("second", "second.0") +
         images.linear("wide", "wide.0", "hidden", "channel row column") + images.linear("middle", "middle.0", "out", "hidden") +
         images.linear("last", "last", "class", "out"))
SEEN = [["first", "first", images.IMAGE], ["second", "second", images.IMAGE], ["wide", "wide", ["batch", "hidden"]],
        ["middle", "middle", ["batch", "out"]], ["last", "last", ["batch", "class"]]]
