# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Translation with two layers of LSTM on each side and additive attention (Wu et al., 2016)."""
import exchange
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import seq2seq


class Attention(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.query, self.key = nn.Linear(units, units), nn.Linear(units, units, bias=False)
        self.score = nn.Linear(units, 1, bias=False)

    def forward(self, y, read, lengths):
        scores = self.score(torch.tanh(self.query(y)[:, :, None] + self.key(read)[:, None]))[..., 0]
        beyond = torch.arange(read.shape[1], device=read.device) >= lengths[:, None]
        return scores.masked_fill(beyond[:, None], -torch.inf).softmax(-1) @ read


class Nmt(nn.Module):
    def __init__(self, words, units, dropout):
        super().__init__()
        self.source, self.target = nn.Embedding(words, units), nn.Embedding(words, units)
        self.reader = nn.LSTM(units, units, num_layers=2, dropout=dropout, batch_first=True)
        self.first = nn.LSTM(units, units, batch_first=True)
        self.second = nn.LSTM(2 * units, units, batch_first=True)
        self.attention, self.output = Attention(units), nn.Linear(2 * units, words)
        self.dropout = nn.Dropout(dropout)

    def forward(self, source, lengths, token):
        x = pack_padded_sequence(self.dropout(self.source(source)), lengths.cpu(), batch_first=True, enforce_sorted=False)
        read, (h, c) = self.reader(x)
        read, _ = pad_packed_sequence(read, batch_first=True, total_length=source.shape[1])
        y, _ = self.first(self.dropout(self.target(token)), (h[:1], c[:1]))
        context = self.attention(y, read, lengths)
        y, _ = self.second(self.dropout(torch.cat([y, context], -1)), (h[1:], c[1:]))
        return self.output(self.dropout(torch.cat([y, context], -1)))


SETTINGS = {
    "tiny": dict(words=7, units=5, dropout=0.0),
    "small": dict(words=2000, units=128, dropout=0.2),
    "full": dict(words=32000, units=1024, dropout=0.2)
}
LONGEST = {"tiny": 12, "small": 24, "full": 40}


def build(size):
    return Nmt(**SETTINGS[size])


def example(size, count):
    return seq2seq.pairs(count, SETTINGS[size]["words"], LONGEST[size])


def SIZES(size):
    units = SETTINGS[size]["units"]
    return {"gate": 4, "hidden": units, "both": 2 * units}


loss, FIELDS = seq2seq.loss, seq2seq.FIELDS
NAMES = ([["source.table", "source.weight", ["word", "feature"]], ["target.table", "target.weight", ["word", "feature"]],
          ["query.weight", "attention.query.weight", ["match", "hidden"]], ["query.bias", "attention.query.bias", ["match"]],
          ["key.weight", "attention.key.weight", ["match", "hidden"]],
          ["score.weight", "attention.score.weight", ["one=0", "match"]]] +
         exchange.lstm("reader", "reader", 2) + exchange.lstm("first", "first", 1) +
         exchange.lstm("second", "second", 1, inputs="both") + exchange.linear("output", "output", "both", "word"))
SEEN = [["first", "first", ["batch", "time", "hidden"], 0], ["attention", "attention", ["batch", "time", "hidden"]],
        ["second", "second", ["batch", "time", "hidden"], 0], ["output", "output", ["batch", "time", "word"]]]
