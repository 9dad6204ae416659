# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The deep learning recommendation model (Naumov et al., 2019); all tables are parts of one."""
import exchange
import torch
from torch import nn
from torch.nn import functional as F


def layers(inputs, sizes):
    parts = []
    for size in sizes:
        parts += [nn.Linear(inputs, size), nn.ReLU()]
        inputs = size
    return parts


class Dlrm(nn.Module):
    def __init__(self, dense, tables, rows, bottom, top):
        super().__init__()
        self.bottom = nn.Sequential(*layers(dense, bottom))
        self.tables = nn.Embedding(tables * rows, bottom[-1])
        self.top = nn.Sequential(*layers(bottom[-1] + tables * (tables + 1) // 2, top)[:-1])
        self.register_buffer("first", torch.arange(tables) * rows, persistent=False)
        self.register_buffer("below", torch.tril_indices(tables + 1, tables + 1, -1), persistent=False)
        nn.init.normal_(self.tables.weight, std=0.1)

    def forward(self, dense, category):
        x = self.bottom(dense)
        rows = torch.cat([x[:, None], self.tables(category + self.first)], 1)
        products = rows @ rows.transpose(1, 2)
        return self.top(torch.cat([x, products[:, self.below[0], self.below[1]]], 1))[:, 0]


SETTINGS = {
    "tiny": dict(dense=5, tables=3, rows=7, bottom=[7, 3], top=[5, 1]),
    "small": dict(dense=13, tables=26, rows=100, bottom=[64, 32, 16], top=[64, 32, 1]),
    "full": dict(dense=13, tables=26, rows=100000, bottom=[512, 256, 64], top=[512, 256, 1])
}
SAMPLES = 11


def build(size):
    return Dlrm(**SETTINGS[size])


def example(size, count):
    setting = SETTINGS[size]
    return {"dense": torch.randn(count, setting["dense"]),
            "category": torch.randint(setting["rows"], (count, setting["tables"])), "click": (torch.rand(count) < 0.5).float()}


def loss(module, batch):
    scores, click = module(batch["dense"], batch["category"]), batch["click"]
    right = (scores > 0) == (click > 0.5)
    return F.binary_cross_entropy_with_logits(scores, click), {"accuracy": right.to(scores.dtype).mean()}


def SIZES(size):
    return {"table": SETTINGS[size]["tables"], "row": SETTINGS[size]["rows"]}


FIELDS = {"dense": ["batch", "number"], "category": ["batch", "table"], "click": ["batch"]}
NAMES = [["tables", "tables.weight", ["table row", "feature"]]]
for net, inputs in [("bottom", "number"), ("top", "unit")]:
    for i in range(3):
        NAMES += exchange.linear("%s.layers.%d" % (net, i), "%s.%d" % (net, 2 * i), inputs, "out")
SEEN = [["bottom", "bottom", ["batch", "unit"]], ["top", "top", ["batch", "unit"]]]
