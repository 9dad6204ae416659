# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inception-v3 (Szegedy et al., 2016) with both heads; names and sizes as in torchvision."""
import images
import torch
from torch import nn
from torch.nn import functional as F


class Conv(nn.Module):
    def __init__(self, channels, outs, window, stride=1, padding=0):
        super().__init__()
        self.conv = nn.Conv2d(channels, outs, window, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(outs, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class A(nn.Module):
    def __init__(self, n, w, pooled):
        super().__init__()
        self.branch1x1 = Conv(n, w(64), 1)
        self.branch5x5_1, self.branch5x5_2 = Conv(n, w(48), 1), Conv(w(48), w(64), 5, padding=2)
        self.branch3x3dbl_1, self.branch3x3dbl_2 = Conv(n, w(64), 1), Conv(w(64), w(96), 3, padding=1)
        self.branch3x3dbl_3 = Conv(w(96), w(96), 3, padding=1)
        self.branch_pool = Conv(n, w(pooled), 1)

    def forward(self, x):
        return torch.cat([self.branch1x1(x), self.branch5x5_2(self.branch5x5_1(x)),
                          self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x))),
                          self.branch_pool(F.avg_pool2d(x, 3, stride=1, padding=1))], 1)


class B(nn.Module):
    def __init__(self, n, w):
        super().__init__()
        self.branch3x3 = Conv(n, w(384), 3, stride=2)
        self.branch3x3dbl_1, self.branch3x3dbl_2 = Conv(n, w(64), 1), Conv(w(64), w(96), 3, padding=1)
        self.branch3x3dbl_3 = Conv(w(96), w(96), 3, stride=2)

    def forward(self, x):
        return torch.cat([self.branch3x3(x), self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x))),
                          F.max_pool2d(x, 3, stride=2)], 1)


class C(nn.Module):
    def __init__(self, n, w, inner):
        super().__init__()
        c, row, column = w(inner), dict(padding=(0, 3)), dict(padding=(3, 0))
        self.branch1x1 = Conv(n, w(192), 1)
        self.branch7x7_1, self.branch7x7_2 = Conv(n, c, 1), Conv(c, c, (1, 7), **row)
        self.branch7x7_3 = Conv(c, w(192), (7, 1), **column)
        self.branch7x7dbl_1, self.branch7x7dbl_2 = Conv(n, c, 1), Conv(c, c, (7, 1), **column)
        self.branch7x7dbl_3, self.branch7x7dbl_4 = Conv(c, c, (1, 7), **row), Conv(c, c, (7, 1), **column)
        self.branch7x7dbl_5 = Conv(c, w(192), (1, 7), **row)
        self.branch_pool = Conv(n, w(192), 1)

    def forward(self, x):
        y = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        return torch.cat([self.branch1x1(x), self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x))),
                          self.branch7x7dbl_5(self.branch7x7dbl_4(y)),
                          self.branch_pool(F.avg_pool2d(x, 3, stride=1, padding=1))], 1)


class D(nn.Module):
    def __init__(self, n, w):
        super().__init__()
        self.branch3x3_1, self.branch3x3_2 = Conv(n, w(192), 1), Conv(w(192), w(320), 3, stride=2)
        self.branch7x7x3_1, self.branch7x7x3_2 = Conv(n, w(192), 1), Conv(w(192), w(192), (1, 7), padding=(0, 3))
        self.branch7x7x3_3 = Conv(w(192), w(192), (7, 1), padding=(3, 0))
        self.branch7x7x3_4 = Conv(w(192), w(192), 3, stride=2)

    def forward(self, x):
        y = self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x)))
        return torch.cat([self.branch3x3_2(self.branch3x3_1(x)), self.branch7x7x3_4(y), F.max_pool2d(x, 3, stride=2)], 1)


class E(nn.Module):
    def __init__(self, n, w):
        super().__init__()
        c, row, column = w(384), dict(padding=(0, 1)), dict(padding=(1, 0))
        self.branch1x1 = Conv(n, w(320), 1)
        self.branch3x3_1 = Conv(n, c, 1)
        self.branch3x3_2a, self.branch3x3_2b = Conv(c, c, (1, 3), **row), Conv(c, c, (3, 1), **column)
        self.branch3x3dbl_1, self.branch3x3dbl_2 = Conv(n, w(448), 1), Conv(w(448), c, 3, padding=1)
        self.branch3x3dbl_3a, self.branch3x3dbl_3b = Conv(c, c, (1, 3), **row), Conv(c, c, (3, 1), **column)
        self.branch_pool = Conv(n, w(192), 1)

    def forward(self, x):
        y, z = self.branch3x3_1(x), self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        return torch.cat([self.branch1x1(x), self.branch3x3_2a(y), self.branch3x3_2b(y), self.branch3x3dbl_3a(z),
                          self.branch3x3dbl_3b(z), self.branch_pool(F.avg_pool2d(x, 3, stride=1, padding=1))], 1)


class Aux(nn.Module):
    def __init__(self, n, w, classes, window, pool):
        super().__init__()
        self.pool = nn.AvgPool2d(*pool)
        self.conv0, self.conv1 = Conv(n, w(128), 1), Conv(w(128), w(768), window)
        self.fc = nn.Linear(w(768), classes)

    def forward(self, x):
        return self.fc(self.conv1(self.conv0(self.pool(x))).mean((2, 3)))


class Inception(nn.Module):
    def __init__(self, channels, divisor, classes, dropout, window, pool):
        super().__init__()

        def w(width):
            return max(2, width // divisor)
        self.Conv2d_1a_3x3 = Conv(channels, w(32), 3, stride=2)
        self.Conv2d_2a_3x3, self.Conv2d_2b_3x3 = Conv(w(32), w(32), 3), Conv(w(32), w(64), 3, padding=1)
        self.maxpool1, self.maxpool2 = nn.MaxPool2d(3, stride=2), nn.MaxPool2d(3, stride=2)
        self.Conv2d_3b_1x1, self.Conv2d_4a_3x3 = Conv(w(64), w(80), 1), Conv(w(80), w(192), 3)
        n = w(192)
        for name, pooled in [("Mixed_5b", 32), ("Mixed_5c", 64), ("Mixed_5d", 64)]:
            setattr(self, name, A(n, w, pooled))
            n = 2 * w(64) + w(96) + w(pooled)
        self.Mixed_6a = B(n, w)
        n = w(384) + w(96) + n
        for name, inner in [("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)]:
            setattr(self, name, C(n, w, inner))
            n = 4 * w(192)
        self.AuxLogits = Aux(n, w, classes, window, pool)
        self.Mixed_7a = D(n, w)
        n = w(320) + w(192) + n
        for name in ["Mixed_7b", "Mixed_7c"]:
            setattr(self, name, E(n, w))
            n = w(320) + 4 * w(384) + w(192)
        self.dropout, self.fc = nn.Dropout(dropout), nn.Linear(n, classes)

    def forward(self, x):
        x = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x)))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(self.maxpool1(x))))
        x = self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x)))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(self.Mixed_6a(x)))))
        other = self.AuxLogits(x) if self.training else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        return self.fc(self.dropout(x.mean((2, 3)))), other


SETTINGS = {
    "tiny": dict(channels=1, divisor=100, classes=10, dropout=0.0, window=3, pool=(1, 1)),
    "small": dict(channels=1, divisor=4, classes=10, dropout=0.2, window=3, pool=(1, 1)),
    "full": dict(channels=3, divisor=1, classes=1000, dropout=0.5, window=5, pool=(5, 3))
}
SIDES = {"tiny": 107, "small": 75, "full": 299}
SAMPLES = 6


def build(size):
    return Inception(**SETTINGS[size])


def example(size, count):
    return images.random(count, SIDES[size], SETTINGS[size]["channels"], SETTINGS[size]["classes"])


def loss(module, batch):
    scores, other = module(batch["image"])
    label = batch["label"].long()
    both = F.cross_entropy(scores, label)
    if other is not None:
        both = both + 0.4 * F.cross_entropy(other, label)
    return both, images.accuracy(scores, label)


FIELDS = images.FIELDS
# The chains of each block's branches, and after "|" the parallel steps that follow a chain.
BLOCKS = [("", ["Conv2d_1a_3x3 Conv2d_2a_3x3 Conv2d_2b_3x3"]), ("", ["Conv2d_3b_1x1 Conv2d_4a_3x3"]), ("", [""])]
BLOCKS += [(name, ["branch1x1", "branch5x5_1 branch5x5_2", "branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3", "branch_pool"])
           for name in ["Mixed_5b", "Mixed_5c", "Mixed_5d"]]
BLOCKS += [("Mixed_6a", ["branch3x3", "branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3", ""])]
BLOCKS += [(name, ["branch1x1", "branch7x7_1 branch7x7_2 branch7x7_3",
                   "branch7x7dbl_1 branch7x7dbl_2 branch7x7dbl_3 branch7x7dbl_4 branch7x7dbl_5", "branch_pool"])
           for name in ["Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e"]]
BLOCKS += [("Mixed_7a", ["branch3x3_1 branch3x3_2", "branch7x7x3_1 branch7x7x3_2 branch7x7x3_3 branch7x7x3_4", ""])]
BLOCKS += [(name, ["branch1x1", "branch3x3_1|branch3x3_2a branch3x3_2b",
                   "branch3x3dbl_1 branch3x3dbl_2|branch3x3dbl_3a branch3x3dbl_3b", "branch_pool"])
           for name in ["Mixed_7b", "Mixed_7c"]]


def conv_norm(ours, theirs):
    return images.convolution(ours + ".conv", theirs + ".conv", False) + images.batch_norm(ours + ".norm", theirs + ".bn")


NAMES, SEEN = [], []
for i, (block, branches) in enumerate(BLOCKS):
    for j, branch in enumerate(branches):
        for part, words in zip(["chain", "fork"], branch.split("|")):
            for k, word in enumerate(words.split()):
                NAMES += conv_norm("blocks.%d.%d.%s.%d" % (i, j, part, k), block + "." * bool(block) + word)
    SEEN += [["blocks.%d" % i, block or ["Conv2d_2b_3x3", "Conv2d_4a_3x3", "maxpool2"][i], images.IMAGE]]
for k in range(2):
    NAMES += conv_norm("side.0.chain.%d" % k, "AuxLogits.conv%d" % k)
NAMES += images.linear("sideLast", "AuxLogits.fc", "class", "channel") + images.linear("last", "fc", "class", "channel")
SEEN += [["last", "fc", ["batch", "class"]], ["sideLast", "AuxLogits", ["batch", "class"]]]
