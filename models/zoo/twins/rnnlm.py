# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recurrent language model (Zaremba et al., 2014)."""
import exchange
import torch
from torch import nn
from torch.nn import functional as F


class RnnLm(nn.Module):
    def __init__(self, words, units, dropout):
        super().__init__()
        self.words = nn.Embedding(words, units)
        self.lstm = nn.LSTM(units, units, num_layers=2, dropout=dropout, batch_first=True)
        self.output = nn.Linear(units, words)
        self.dropout = nn.Dropout(dropout)

    def forward(self, token):
        x, _ = self.lstm(self.dropout(self.words(token)))
        return self.output(self.dropout(x))


SETTINGS = {
    "tiny": dict(words=11, units=5, dropout=0.0),
    "small": dict(words=4000, units=192, dropout=0.3),
    "full": dict(words=10000, units=2048, dropout=0.5)
}
LENGTH = {"tiny": 7, "small": 35, "full": 40}


def build(size):
    return RnnLm(**SETTINGS[size])


def example(size, count):
    shape = (count, LENGTH[size])
    return {field: torch.randint(SETTINGS[size]["words"], shape) for field in ["token", "next"]}


def loss(module, batch):
    scores, label = module(batch["token"]), batch["next"].long()
    right = scores.argmax(-1) == label
    return F.cross_entropy(scores.flatten(0, 1), label.flatten()), {"accuracy": right.to(scores.dtype).mean()}


def SIZES(size):
    return {"gate": 4, "hidden": SETTINGS[size]["units"]}


FIELDS = {"token": ["batch", "time"], "next": ["batch", "time"]}
NAMES = ([["words.table", "words.weight", ["word", "feature"]]] + exchange.lstm("lstm", "lstm", 2) +
         exchange.linear("output", "output", "hidden", "word"))
SEEN = [["lstm", "lstm", ["batch", "time", "hidden"], 0], ["output", "output", ["batch", "time", "word"]]]
