# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 (Radford et al., 2019)."""
import exchange
import torch
from torch import nn
from torch.nn import functional as F


class Gpt(nn.Module):
    def __init__(self, words, length, features, heads, layers, dropout):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, features), nn.Embedding(length, features)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(features, heads, 4 * features, dropout, batch_first=True, norm_first=True,
                                       activation=lambda x: F.gelu(x, approximate="tanh")) for _ in range(layers))
        self.norm = nn.LayerNorm(features)
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)

    def forward(self, token):
        time = token.shape[1]
        after = torch.ones(time, time, dtype=torch.bool, device=token.device).triu(1)
        x = self.dropout(self.words(token) + self.positions(torch.arange(time, device=token.device)))
        for layer in self.layers:
            x = layer(x, src_mask=after, is_causal=True)
        return self.norm(x) @ self.words.weight.t()


SETTINGS = {
    "tiny": dict(words=13, length=7, features=6, heads=2, layers=2, dropout=0.0),
    "small": dict(words=256, length=128, features=192, heads=6, layers=4, dropout=0.0),
    "full": dict(words=50257, length=1024, features=768, heads=12, layers=12, dropout=0.1)
}


def build(size):
    return Gpt(**SETTINGS[size])


def example(size, count):
    setting = SETTINGS[size]
    return {field: torch.randint(setting["words"], (count, setting["length"])) for field in ["token", "next"]}


def loss(module, batch):
    scores, label = module(batch["token"]), batch["next"].long()
    right = scores.argmax(-1) == label
    return F.cross_entropy(scores.flatten(0, 1), label.flatten()), {"accuracy": right.to(scores.dtype).mean()}


def SIZES(size):
    setting = SETTINGS[size]
    return {"head": setting["heads"], "depth": setting["features"] // setting["heads"]}


FIELDS = {"token": ["batch", "time"], "next": ["batch", "time"]}
NAMES = ([["words.table", "words.weight", ["word", "feature"]], ["positions.table", "positions.weight", ["time", "feature"]]] +
         exchange.transformer("layers.*", "layers.*") + exchange.norm("norm", "norm"))
SEEN = [["embedded", "dropout", ["batch", "time", "feature"]]]
SEEN += [["layers.%d" % i, "layers.%d" % i, ["batch", "time", "feature"]] for i in range(2)]
