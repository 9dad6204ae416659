# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An LSTM encoder and decoder with dot attention (Luong et al., 2015)."""
import exchange
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Attention(nn.Module):
    def forward(self, y, read, lengths):
        scores = y @ read.transpose(1, 2)
        beyond = torch.arange(read.shape[1], device=read.device) >= lengths[:, None]
        return scores.masked_fill(beyond[:, None], -torch.inf).softmax(-1) @ read


class Seq2Seq(nn.Module):
    def __init__(self, words, units, dropout):
        super().__init__()
        self.source, self.target = nn.Embedding(words, units), nn.Embedding(words, units)
        self.reader = nn.LSTM(units, units, num_layers=2, dropout=dropout, batch_first=True)
        self.writer = nn.LSTM(units, units, num_layers=2, dropout=dropout, batch_first=True)
        self.attention, self.combine = Attention(), nn.Sequential(nn.Linear(2 * units, units), nn.Tanh())
        self.output, self.dropout = nn.Linear(units, words), nn.Dropout(dropout)

    def forward(self, source, lengths, token):
        x = pack_padded_sequence(self.dropout(self.source(source)), lengths.cpu(), batch_first=True, enforce_sorted=False)
        read, last = self.reader(x)
        read, _ = pad_packed_sequence(read, batch_first=True, total_length=source.shape[1])
        y, _ = self.writer(self.dropout(self.target(token)), last)
        context = self.attention(y, read, lengths)
        return self.output(self.dropout(self.combine(torch.cat([context, y], -1))))


SETTINGS = {
    "tiny": dict(words=7, units=5, dropout=0.0),
    "small": dict(words=48, units=128, dropout=0.0),
    "full": dict(words=32000, units=512, dropout=0.2)
}
LONGEST = {"tiny": 5, "small": 16, "full": 50}


def build(size):
    return Seq2Seq(**SETTINGS[size])


def pairs(count, words, longest):
    return {"source": torch.randint(words, (count, longest)), "source_length": torch.randint(1, longest + 1, (count,)),
            "token": torch.randint(words, (count, longest)), "next": torch.randint(words, (count, longest))}


def example(size, count):
    return pairs(count, SETTINGS[size]["words"], LONGEST[size])


def loss(module, batch):
    scores, label = module(batch["source"], batch["source_length"], batch["token"]), batch["next"].long()
    counts, right = label != 0, scores.argmax(-1) == label
    return F.cross_entropy(scores.flatten(0, 1), label.flatten(), ignore_index=0), {
        "accuracy": right[counts].to(scores.dtype).mean(), "exact": (right | ~counts).all(1).to(scores.dtype).mean()}


def SIZES(size):
    return {"gate": 4, "hidden": SETTINGS[size]["units"]}


FIELDS = {"source": ["batch", "from"], "source_length": ["batch"], "token": ["batch", "time"], "next": ["batch", "time"]}
NAMES = ([["source.table", "source.weight", ["word", "feature"]], ["target.table", "target.weight", ["word", "feature"]],
          ["context.weight", "combine.0.weight", ["feature", "part=0 hidden"]],
          ["state.weight", "combine.0.weight", ["feature", "part=1 hidden"]], ["state.bias", "combine.0.bias", ["feature"]]] +
         exchange.lstm("reader", "reader", 2) + exchange.lstm("writer", "writer", 2) +
         exchange.linear("output", "output", "feature", "word"))
SEEN = [["writer", "writer", ["batch", "time", "hidden"], 0], ["attention", "combine", ["batch", "time", "feature"]],
        ["output", "output", ["batch", "time", "word"]]]
