# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix capsules with EM routing (Hinton, Sabour, Frosst, 2018); poses are [batch, row, column, capsule, 4, 4]."""
import images
import torch
from torch import nn
from torch.nn import functional as F


class Primary(nn.Module):
    def __init__(self, channels, capsules):
        super().__init__()
        self.poses, self.activations = nn.Linear(channels, capsules * 16), nn.Linear(channels, capsules)

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        return self.poses(x).unflatten(-1, (-1, 4, 4)), torch.sigmoid(self.activations(x))


class Capsules(nn.Module):
    """`window` None: all positions vote for the same capsules. `steps`: iterations of routing."""

    def __init__(self, capsules, outs, steps, window=None, stride=1):
        super().__init__()
        self.window, self.stride, self.steps = window, stride, steps
        taps = [window, window] if window else []
        self.weight = nn.Parameter(torch.randn(*taps, capsules, outs, 4, 4) * 0.5)
        self.costs, self.active = nn.Parameter(torch.zeros(outs)), nn.Parameter(torch.zeros(outs))

    def forward(self, x):
        pose, activation = x
        if self.window:  # [batch, row, column, row tap, column tap, capsule, ...]
            for axis in (1, 2):
                pose = pose.unfold(axis, self.window, self.stride)
                activation = activation.unfold(axis, self.window, self.stride)
            pose, activation = pose.permute(0, 1, 2, 6, 7, 3, 4, 5), activation.permute(0, 1, 2, 4, 5, 3)
            votes = torch.einsum("brcyxnik,yxnokj->brcyxnoij", pose, self.weight)
            poses, activations = self.route(votes.flatten(3, 5), activation.flatten(3, 5))
        else:
            rows, columns = pose.shape[1:3]
            votes = torch.einsum("brcnik,nokj->brcnoij", pose, self.weight)
            places = torch.zeros(rows, columns, 4, 4, dtype=pose.dtype)
            places[:, :, 0, 3] = ((torch.arange(rows) + 0.5) / rows)[:, None]
            places[:, :, 1, 3] = ((torch.arange(columns) + 0.5) / columns)[None, :]
            votes = votes + places[:, :, None, None]
            poses, activations = self.route(votes.flatten(1, 3), activation.flatten(1, 3))
        return poses, activations

    def route(self, votes, activation):
        """Votes [..., source, out, 4, 4], activations [..., source]."""
        share = torch.full(votes.shape[:-2], 1 / votes.shape[-3], dtype=votes.dtype)
        for step in range(self.steps):
            used = (activation[..., None] * share)[..., None, None]
            mass = used.sum(-4) + 1e-6
            mean = (used * votes).sum(-4) / mass
            squares = (votes - mean.unsqueeze(-4)) ** 2
            variance = (used * squares).sum(-4) / mass + 1e-4
            half_log = 0.5 * torch.log(variance)
            cost = (half_log + self.costs[:, None, None]).sum((-1, -2)) * mass[..., 0, 0]
            logit = 0.01 * (1 - 0.95 ** (step + 1)) * (self.active - cost)
            fit = (squares / (2 * variance).unsqueeze(-4) + half_log.unsqueeze(-4)).sum((-1, -2))
            share = F.softmax(torch.log(torch.sigmoid(logit) + 1e-6).unsqueeze(-2) - fit, -1)
        return mean, torch.sigmoid(logit)


class MatrixCapsules(nn.Module):
    def __init__(self, side, a, b, c, d, steps, classes):
        super().__init__()
        self.first, self.relu = nn.Conv2d(1, a, 5, stride=2), nn.ReLU()
        self.primary = Primary(a, b)
        self.layers = nn.Sequential(Capsules(b, c, steps, 3, 2), Capsules(c, d, steps, 3), Capsules(d, classes, steps))

    def forward(self, image):
        return self.layers(self.primary(self.relu(self.first(image))))[1]


SETTINGS = {
    "tiny": dict(side=21, a=3, b=2, c=3, d=3, steps=3, classes=10),
    "small": dict(side=32, a=64, b=8, c=16, d=16, steps=2, classes=10),
    "full": dict(side=32, a=32, b=32, c=32, d=32, steps=3, classes=5)
}


def build(size):
    return MatrixCapsules(**SETTINGS[size])


def example(size, count):
    return images.random(count, SETTINGS[size]["side"], 1, SETTINGS[size]["classes"])


def loss(module, batch):
    activation, label = module(batch["image"]), batch["label"].long()
    margin = 0.2 + 0.7 * batch.get("progress", 1.0)
    chosen = F.one_hot(label, activation.shape[1])
    own = (activation * chosen).sum(1, keepdim=True)
    spread = F.relu(margin - (own - activation)) ** 2 * (1 - chosen)
    return spread.sum(1).mean(), images.accuracy(activation, label)


def SIZES(size):
    return {"capsule": SETTINGS[size]["b"], "i": 4, "k": 4}


FIELDS = {**images.FIELDS, "progress": []}
NAMES = images.convolution("first", "first")
NAMES += images.linear("poses", "primary.poses", "capsule i k", "channel")
NAMES += images.linear("activations", "primary.activations", "capsule", "channel")
NAMES += [["layers.2.weight", "layers.2.weight", ["capsule", "out", "k", "j"]],
          ["layers.*.weight", "layers.*.weight", ["row_k", "column_k", "capsule", "out", "k", "j"]],
          ["layers.*.costs", "layers.*.costs", ["out"]], ["layers.*.active", "layers.*.active", ["out"]]]
SEEN = [["first", "relu", images.IMAGE]]
for layer, places in [(0, ["row", "column"]), (1, ["row", "column"]), (2, [])]:
    SEEN += [["layers.%d.pose" % layer, "layers.%d" % layer, ["batch", *places, "capsule", "i", "k"], 0],
             ["layers.%d.activation" % layer, "layers.%d" % layer, ["batch", *places, "capsule"], 1]]
