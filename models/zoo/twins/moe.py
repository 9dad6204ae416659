# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A language model of experts (Fedus et al., Switch transformers, 2021)."""
import exchange
import gpt
import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, length, features, heads, experts):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(features, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(features), nn.LayerNorm(features)
        self.router = nn.Linear(features, experts)
        self.up = nn.Parameter(torch.randn(experts, features, 4 * features) / features**0.5)
        self.down = nn.Parameter(torch.randn(experts, 4 * features, features) / (4 * features)**0.5)
        self.slots = (5 * length // experts + 3) // 4

    def forward(self, x):
        y = self.norm1(x)
        after = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        x = x + self.self_attn(y, y, y, attn_mask=after, need_weights=False)[0]
        y = self.norm2(x)
        chances, expert = self.router(y).softmax(-1).max(-1)
        result = torch.zeros_like(y)
        for i in range(self.up.shape[0]):
            sent = expert == i
            sent = sent & (sent.long().cumsum(1) <= self.slots)  # the others find no slot
            result[sent] = chances[sent][:, None] * (F.relu(y[sent] @ self.up[i]) @ self.down[i])
        return x + result


class Moe(nn.Module):
    def __init__(self, words, length, features, heads, layers, experts):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, features), nn.Embedding(length, features)
        self.layers = nn.ModuleList(Layer(length, features, heads, experts) for _ in range(layers))
        self.norm = nn.LayerNorm(features)
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)

    def forward(self, token):
        x = self.words(token) + self.positions(torch.arange(token.shape[1], device=token.device))
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.words.weight.t()


EXPERTS = {"tiny": 3, "small": 4, "full": 8}


def build(size):
    setting = {key: value for key, value in gpt.SETTINGS[size].items() if key != "dropout"}
    return Moe(**setting, experts=EXPERTS[size])


example, loss, SIZES, FIELDS = gpt.example, gpt.loss, gpt.SIZES, gpt.FIELDS
NAMES = [["words.table", "words.weight", ["word", "feature"]], ["positions.table", "positions.weight", ["time", "feature"]]]
for i, part in enumerate(["query", "key", "value"]):
    axis = "part=%d head depth" % i
    NAMES += [["layers.*.attention.%s.weight" % part, "layers.*.self_attn.in_proj_weight", [axis, "feature"]],
              ["layers.*.attention.%s.bias" % part, "layers.*.self_attn.in_proj_bias", [axis]]]
NAMES += (exchange.linear("layers.*.attention.out", "layers.*.self_attn.out_proj", "head depth", "feature") +
          exchange.linear("layers.*.router", "layers.*.router", "feature", "expert") +
          [["layers.*.up", "layers.*.up", ["expert", "feature", "hidden"]],
           ["layers.*.down", "layers.*.down", ["expert", "hidden", "feature"]]] +
          exchange.norm("layers.*.norms.0", "layers.*.norm1") + exchange.norm("layers.*.norms.1", "layers.*.norm2") +
          exchange.norm("norm", "norm"))
SEEN = [["layers.%d" % i, "layers.%d" % i, ["batch", "time", "feature"]] for i in range(2)]
