# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Capsules with dynamic routing (Sabour, Frosst, Hinton, 2017)."""
import images
import torch
from torch import nn
from torch.nn import functional as F


def lengths(x):
    return torch.sqrt((x * x).sum(-1) + 1e-9)


def squash(x):
    squares = (x * x).sum(-1, keepdim=True)
    return x * torch.sqrt(squares + 1e-9) / (1 + squares)


class Primary(nn.Module):
    """A convolution whose channels are capsules: [batch, capsule, row, column, atom]."""

    def __init__(self, channels, capsules, atoms, window):
        super().__init__()
        self.conv = nn.Conv2d(channels, capsules * atoms, window, stride=2)
        self.atoms = atoms

    def forward(self, x):
        x = self.conv(x)
        return squash(x.view(len(x), -1, self.atoms, *x.shape[2:]).permute(0, 1, 3, 4, 2))


class Routing(nn.Module):
    def __init__(self, capsules, classes, poses, atoms):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(capsules, classes, poses, atoms) * 0.1)

    def forward(self, x):
        votes = torch.einsum("bia,icpa->bicp", x.flatten(1, 3), self.weight)
        agreement = torch.zeros_like(votes[..., 0])
        for _ in range(3):
            share = F.softmax(agreement, 2)
            poses = squash((share[..., None] * votes).sum(1))
            agreement = agreement + (votes * poses[:, None]).sum(-1)
        return poses


class CapsNet(nn.Module):
    def __init__(self, side, filters, window, capsules, atoms, poses, units, classes=10, channels=1):
        super().__init__()
        grid = (side - 2 * window + 1) // 2 + 1
        self.first, self.relu = nn.Conv2d(channels, filters, window), nn.ReLU()
        self.primary = Primary(filters, capsules, atoms, window)
        self.routing = Routing(capsules * grid * grid, classes, poses, atoms)
        wide, wider = units
        self.decoder = nn.Sequential(nn.Linear(classes * poses, wide), nn.ReLU(), nn.Linear(wide, wider), nn.ReLU(),
                                     nn.Linear(wider, side * side * channels), nn.Sigmoid(),
                                     nn.Unflatten(1, (channels, side, side)))

    def forward(self, image, label):
        poses = self.routing(self.primary(self.relu(self.first(image))))
        chosen = F.one_hot(label.long(), poses.shape[1])[..., None]
        return lengths(poses), self.decoder((poses * chosen).flatten(1))


SETTINGS = {
    "tiny": dict(side=13, filters=3, window=3, capsules=2, atoms=2, poses=3, units=[7, 3]),
    "small": dict(side=32, filters=32, window=9, capsules=8, atoms=8, poses=16, units=[128, 256]),
    "full": dict(side=28, filters=256, window=9, capsules=32, atoms=8, poses=16, units=[512, 1024])
}


def build(size):
    return CapsNet(**SETTINGS[size])


def example(size, count):
    return images.random(count, SETTINGS[size]["side"])


def loss(module, batch):
    length, drawn = module(batch["image"], batch["label"])
    chosen = F.one_hot(batch["label"].long(), length.shape[1])
    margin = chosen * F.relu(0.9 - length) ** 2 + 0.5 * (1 - chosen) * F.relu(length - 0.1) ** 2
    error = ((drawn - batch["image"]) ** 2).flatten(1).sum(1)
    return (margin.sum(1) + 0.0005 * error).mean(), images.accuracy(length, batch["label"])


def SIZES(size):
    setting = SETTINGS[size]
    grid = (setting["side"] - 2 * setting["window"] + 1) // 2 + 1
    image = {"channel": 1, "row": setting["side"], "column": setting["side"]}
    return {"capsule": setting["capsules"], "row": grid, "column": grid, "class": 10, "pose": setting["poses"],
            "decoder.2.weight": image, "decoder.2.bias": image}


FIELDS = images.FIELDS
NAMES = images.convolution("first", "first") + images.convolution("primary", "primary.conv")
NAMES += [["weight", "routing.weight", ["capsule row column", "class", "pose", "atom"]]]
NAMES += images.linear("decoder.0", "decoder.0", "hidden", "class pose")
NAMES += images.linear("decoder.1", "decoder.2", "out", "hidden")
NAMES += images.linear("decoder.2", "decoder.4", "channel row column", "out")
SEEN = [["first", "relu", images.IMAGE], ["primary", "primary", ["batch", "capsule", "row", "column", "atom"]],
        ["classes", "routing", ["batch", "class", "pose"]], ["decoder", "decoder.6", images.IMAGE]]
