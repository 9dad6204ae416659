# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph attention network (Velickovic et al., 2018) over lists of neighbours."""
import torch
from torch import nn
from torch.nn import functional as F


class GraphAttention(nn.Module):
    def __init__(self, inputs, heads, outputs):
        super().__init__()
        self.project = nn.Linear(inputs, heads * outputs, bias=False)
        self.own, self.other = nn.Parameter(torch.empty(heads, outputs)), nn.Parameter(torch.empty(heads, outputs))
        self.bias = nn.Parameter(torch.zeros(heads, outputs))
        nn.init.xavier_uniform_(self.own)
        nn.init.xavier_uniform_(self.other)

    def forward(self, x, neighbour, degree):
        y = self.project(x).unflatten(-1, self.bias.shape)
        near = y[torch.arange(len(y), device=y.device)[:, None, None], neighbour]  # batch, node, slot, head, feature
        scores = F.leaky_relu((near * self.other).sum(-1) + (y * self.own).sum(-1)[:, :, None], 0.2)
        beyond = torch.arange(neighbour.shape[2], device=y.device) >= degree[:, :, None]
        weights = scores.masked_fill(beyond[..., None], -torch.inf).softmax(2)
        return (weights[..., None] * near).sum(2) + self.bias


class Gat(nn.Module):
    def __init__(self, words, heads, features, classes, dropout):
        super().__init__()
        self.first, self.second = GraphAttention(words, heads, features), GraphAttention(heads * features, 1, classes)
        self.elu, self.flatten, self.dropout = nn.ELU(), nn.Flatten(2), nn.Dropout(dropout)

    def forward(self, words, neighbour, degree):
        x = self.elu(self.first(self.dropout(words), neighbour, degree))
        return self.flatten(self.second(self.dropout(x.flatten(2)), neighbour, degree))


SETTINGS = {
    "tiny": dict(words=7, heads=2, features=3, classes=3, dropout=0.0),
    "small": dict(words=48, heads=8, features=8, classes=5, dropout=0.0),
    "full": dict(words=1433, heads=8, features=8, classes=7, dropout=0.6)
}
GRAPH = {"tiny": (11, 5), "small": (64, 8), "full": (2708, 169)}


def build(size):
    return Gat(**SETTINGS[size])


def example(size, count):
    setting, (nodes, slots) = SETTINGS[size], GRAPH[size]
    return {"words": torch.rand(count, nodes, setting["words"]), "neighbour": torch.randint(nodes, (count, nodes, slots)),
            "degree": torch.randint(1, slots + 1, (count, nodes)), "label": torch.randint(setting["classes"], (count, nodes))}


def loss(module, batch):
    scores = module(batch["words"], batch["neighbour"].long(), batch["degree"])
    label = batch["label"].long()
    right = scores.argmax(-1) == label
    return F.cross_entropy(scores.flatten(0, 1), label.flatten()), {"accuracy": right.to(scores.dtype).mean()}


def SIZES(size):
    return {"head": SETTINGS[size]["heads"], "feature": SETTINGS[size]["features"]}


FIELDS = {"words": ["batch", "node", "word"], "neighbour": ["batch", "node", "slot"], "degree": ["batch", "node"],
          "label": ["batch", "node"]}
NAMES = [["first.project.weight", "first.project.weight", ["head feature", "word"]],
         ["second.project.weight", "second.project.weight", ["class", "head feature"]]]
NAMES += [["first." + part, "first." + part, ["head", "feature"]] for part in ["own", "other", "bias"]]
NAMES += [["second." + part, "second." + part, ["one=0", "class"]] for part in ["own", "other", "bias"]]
SEEN = [["first", "elu", ["batch", "node", "head", "feature"]], ["second", "flatten", ["batch", "node", "class"]]]
