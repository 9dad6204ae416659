# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT as a masked language model (Devlin et al., 2019), without segments."""
import exchange
import torch
from torch import nn
from torch.nn import functional as F


class Bert(nn.Module):
    def __init__(self, words, length, features, heads, layers, dropout, tied=True):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, features), nn.Embedding(length, features)
        self.norm, self.dropout = nn.LayerNorm(features, eps=1e-12), nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(features, heads, 4 * features, dropout, activation="gelu", layer_norm_eps=1e-12,
                                       batch_first=True) for _ in range(layers))
        self.dense, self.dense_norm = nn.Linear(features, features), nn.LayerNorm(features, eps=1e-12)
        self.output = None if tied else nn.Parameter(torch.randn(words, features) * 0.02)
        self.bias = nn.Parameter(torch.zeros(words))
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)

    def forward(self, token, place):
        x = self.words(token) + self.positions(torch.arange(token.shape[1], device=token.device))
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x)
        hidden = x.gather(1, place.long()[:, :, None].expand(-1, -1, x.shape[2]))
        table = self.words.weight if self.output is None else self.output
        return self.dense_norm(F.gelu(self.dense(hidden))) @ table.t() + self.bias


SETTINGS = {
    "tiny": dict(words=11, length=7, features=6, heads=2, layers=2, dropout=0.0),
    "small": dict(words=4000, length=64, features=128, heads=4, layers=3, dropout=0.0),
    "full": dict(words=30522, length=512, features=768, heads=12, layers=12, dropout=0.1)
}
MASKED = {"tiny": 2, "small": 10, "full": 77}


def build(size):
    return Bert(**SETTINGS[size])


def example(size, count):
    setting, masked = SETTINGS[size], MASKED[size]
    return {"token": torch.randint(setting["words"], (count, setting["length"])),
            "place": torch.randint(setting["length"], (count, masked)),
            "label": torch.randint(setting["words"], (count, masked))}


def loss(module, batch):
    scores, label = module(batch["token"], batch["place"]), batch["label"].long()
    right = scores.argmax(-1) == label
    return F.cross_entropy(scores.flatten(0, 1), label.flatten()), {"accuracy": right.to(scores.dtype).mean()}


def SIZES(size):
    setting = SETTINGS[size]
    return {"head": setting["heads"], "depth": setting["features"] // setting["heads"]}


FIELDS = {"token": ["batch", "time"], "place": ["batch", "masked"], "label": ["batch", "masked"]}
NAMES = ([["words.table", "words.weight", ["word", "feature"]], ["positions.table", "positions.weight", ["time", "feature"]],
          ["output", "output", ["word", "feature"]], ["bias", "bias", ["word"]]] + exchange.norm("norm", "norm") +
         exchange.transformer("layers.*", "layers.*") + exchange.linear("dense", "dense", "feature", "out") +
         exchange.norm("denseNorm", "dense_norm"))
SEEN = [["embedded", "dropout", ["batch", "time", "feature"]]]
SEEN += [["layers.%d" % i, "layers.%d" % i, ["batch", "time", "feature"]] for i in range(2)]
