# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A recurrent classifier of texts (RNNTC of Jia et al., 2018)."""
import exchange
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence


class RnnTc(nn.Module):
    def __init__(self, words, units, kinds, dropout):
        super().__init__()
        self.words = nn.Embedding(words, units, padding_idx=0)
        self.lstm = nn.LSTM(units, units, num_layers=4, dropout=dropout, batch_first=True)
        self.first_dropout, self.last_dropout = nn.Dropout(dropout), nn.Dropout(dropout)
        self.output = nn.Linear(units, kinds)

    def forward(self, text, lengths):
        x = self.first_dropout(self.words(text))
        _, (h, _) = self.lstm(pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False))
        return self.output(self.last_dropout(h[-1]))


SETTINGS = {
    "tiny": dict(words=11, units=5, kinds=11, dropout=0.0),
    "small": dict(words=4000, units=128, kinds=40, dropout=0.3),
    "full": dict(words=10000, units=1024, kinds=40, dropout=0.3)
}
LONGEST = {"tiny": 7, "small": 40, "full": 40}


def build(size):
    return RnnTc(**SETTINGS[size])


def example(size, count):
    setting, longest = SETTINGS[size], LONGEST[size]
    return {"text": torch.randint(setting["words"], (count, longest)),
            "text_length": torch.randint(1, longest + 1, (count,)),
            "label": torch.randint(setting["kinds"], (count,))}


def loss(module, batch):
    scores, label = module(batch["text"], batch["text_length"]), batch["label"].long()
    right = scores.argmax(-1) == label
    return F.cross_entropy(scores, label), {"accuracy": right.to(scores.dtype).mean()}


def SIZES(size):
    return {"gate": 4, "hidden": SETTINGS[size]["units"]}


FIELDS = {"text": ["batch", "time"], "text_length": ["batch"], "label": ["batch"]}
NAMES = ([["words.table", "words.weight", ["word", "feature"]]] + exchange.lstm("lstm", "lstm", 4) +
         exchange.linear("output", "output", "hidden", "kind"))
SEEN = [["last", "last_dropout", ["batch", "hidden"]], ["output", "output", ["batch", "kind"]]]
