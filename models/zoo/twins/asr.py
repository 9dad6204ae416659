# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speech to tokens by convolutions, layers of a transformer and CTC (Likhomanenko et al., 2020)."""
import exchange
import torch
from torch import nn
from torch.nn import functional as F


def sinusoids(time, features, like):
    place = torch.arange(time, device=like.device, dtype=like.dtype)[:, None]
    even = torch.arange(0, features, 2, device=like.device, dtype=like.dtype)
    angle = place * 10000.0 ** (-even / features)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


class Asr(nn.Module):
    def __init__(self, bands, tokens, features, heads, layers, dropout):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(bands, features, 3, padding=1), nn.GELU(),
                                   nn.Conv1d(features, features, 3, stride=2, padding=1), nn.GELU())
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(features, heads, 4 * features, dropout, batch_first=True) for _ in range(layers))
        self.output = nn.Linear(features, tokens)

    def forward(self, frames, lengths):
        x = self.front(frames.transpose(1, 2)).transpose(1, 2)
        beyond = torch.arange(x.shape[1], device=x.device) >= lengths[:, None]
        x = self.dropout(x + sinusoids(x.shape[1], x.shape[2], x))
        for layer in self.layers:
            # Positions beyond the lengths are zeros.
            x = layer(x.masked_fill(beyond[:, :, None], 0), src_key_padding_mask=beyond)
        return self.output(x)


SETTINGS = {
    "tiny": dict(bands=5, tokens=7, features=6, heads=2, layers=2, dropout=0.0),
    "small": dict(bands=16, tokens=31, features=128, heads=4, layers=3, dropout=0.1),
    "full": dict(bands=80, tokens=10000, features=768, heads=4, layers=36, dropout=0.4)
}
FRAMES = {"tiny": 23, "small": 96, "full": 1500}
LONGEST = {"tiny": 2, "small": 12, "full": 100}


def build(size):
    return Asr(**SETTINGS[size])


def example(size, count):
    setting, frames, longest = SETTINGS[size], FRAMES[size], LONGEST[size]
    return {"frames": torch.randn(count, frames, setting["bands"]),
            "frames_length": torch.randint(frames - frames // 2, frames + 1, (count,)),
            "text": torch.randint(1, setting["tokens"], (count, longest)),
            "text_length": torch.randint(1, longest + 1, (count,))}


def distance(got, wanted):
    row = list(range(len(wanted) + 1))
    for token in got:
        before, row[0] = row[0], row[0] + 1
        for i, other in enumerate(wanted):
            before, row[i + 1] = row[i + 1], min(row[i + 1] + 1, row[i] + 1, before + (token != other))
    return row[-1]


def loss(module, batch):
    lengths, spoken = (batch["frames_length"] + 1) // 2, batch["text_length"]
    scores = module(batch["frames"], lengths)
    errors = []
    for best, length, text, count in zip(scores.argmax(-1), lengths, batch["text"], spoken):
        got = [int(token) for token in torch.unique_consecutive(best[:length]) if token != 0]
        errors.append(distance(got, text[:count].tolist()) / int(count))
    value = F.ctc_loss(scores.log_softmax(-1).transpose(0, 1), batch["text"].long(), lengths.long(), spoken.long())
    return value, {"errors": torch.tensor(errors, dtype=scores.dtype).mean()}


def SIZES(size):
    setting = SETTINGS[size]
    return {"head": setting["heads"], "depth": setting["features"] // setting["heads"]}


FIELDS = {"frames": ["batch", "time", "band"], "frames_length": ["batch"], "text": ["batch", "position"],
          "text_length": ["batch"]}
NAMES = ([["first.weight", "front.0.weight", ["out", "band", "time_k"]], ["first.bias", "front.0.bias", ["out"]],
          ["second.weight", "front.2.weight", ["out", "feature", "time_k"]], ["second.bias", "front.2.bias", ["out"]]] +
         exchange.transformer("layers.*", "layers.*") + exchange.linear("output", "output", "feature", "token"))
SEEN = [["convolutions", "front", ["batch", "feature", "time"]]]
SEEN += [["layers.%d" % i, "layers.%d" % i, ["batch", "time", "feature"]] for i in range(2)]
SEEN += [["output", "output", ["batch", "time", "token"]]]
