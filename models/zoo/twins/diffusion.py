# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A U-Net that predicts the noise in images (Ho, Jain, Abbeel, 2020)."""
import math

import images
import torch
from torch import nn
from torch.nn import functional as F

STEPS = 1000


def sinusoids(t, features):  # sine and cosine take turns
    number = torch.arange(features)
    angle = t[:, None] * torch.exp((number // 2 * 2) * (-math.log(10000.0) / features))
    return torch.where(number % 2 == 0, torch.sin(angle), torch.cos(angle))


class Block(nn.Module):
    def __init__(self, n, outs, time, groups, attends, dropout):
        super().__init__()
        self.before, self.first = nn.GroupNorm(groups, n), nn.Conv2d(n, outs, 3, padding=1)
        self.between, self.second = nn.GroupNorm(groups, outs), nn.Conv2d(outs, outs, 3, padding=1)
        self.time, self.dropout = nn.Linear(time, outs), nn.Dropout(dropout)
        self.shortcut = nn.Conv2d(n, outs, 1) if n != outs else nn.Identity()
        self.norm = nn.GroupNorm(groups, outs) if attends else None
        self.attention = nn.MultiheadAttention(outs, 1, batch_first=True) if attends else None

    def forward(self, x, now):
        y = self.first(F.silu(self.before(x)))
        y = F.silu(self.between(y + self.time(now)[:, :, None, None]))
        y = self.second(self.dropout(y)) + self.shortcut(x)
        if self.attention is None:
            return y
        z = self.norm(y).flatten(2).transpose(1, 2)
        z = self.attention(z, z, z, need_weights=False)[0]
        return y + z.transpose(1, 2).reshape(y.shape)


class UNet(nn.Module):
    def __init__(self, channels, widths, depth, groups, attends, dropout):
        super().__init__()
        n = widths[0]
        time = 4 * n
        self.features = n
        self.early, self.late = nn.Linear(n, time), nn.Linear(time, time)
        self.first = nn.Conv2d(channels, n, 3, padding=1)
        kept = [n]
        self.down, self.shrink = nn.ModuleList(), nn.ModuleList()
        for level, width in enumerate(widths):
            blocks = nn.ModuleList()
            for _ in range(depth):
                blocks.append(Block(n, width, time, groups, level == attends, dropout))
                n = width
                kept.append(n)
            self.down.append(blocks)
            if level + 1 < len(widths):
                self.shrink.append(nn.Conv2d(n, n, 3, stride=2, padding=1))
                kept.append(n)
        self.middle = nn.ModuleList([Block(n, n, time, groups, attends, dropout) for attends in (True, False)])
        self.up, self.grow = nn.ModuleList(), nn.ModuleList()
        for level, width in reversed(list(enumerate(widths))):
            blocks = nn.ModuleList()
            for _ in range(depth + 1):
                blocks.append(Block(n + kept.pop(), width, time, groups, level == attends, dropout))
                n = width
            self.up.append(blocks)
            if level > 0:
                self.grow.append(nn.Conv2d(n, n, 3, padding=1))
        self.norm, self.last = nn.GroupNorm(groups, n), nn.Conv2d(n, channels, 3, padding=1)

    def forward(self, x, t):
        now = F.silu(self.late(F.silu(self.early(sinusoids(t, self.features)))))
        x = self.first(x)
        kept = [x]
        for level, blocks in enumerate(self.down):
            for block in blocks:
                x = block(x, now)
                kept.append(x)
            if level < len(self.shrink):
                x = self.shrink[level](x)
                kept.append(x)
        for block in self.middle:
            x = block(x, now)
        for level, blocks in enumerate(self.up):
            for block in blocks:
                x = block(torch.cat([x, kept.pop()], 1), now)
            if level < len(self.grow):
                x = self.grow[level](F.interpolate(x, scale_factor=2))
        return self.last(F.silu(self.norm(x)))


SETTINGS = {
    "tiny": dict(channels=1, widths=[2, 3], depth=1, groups=1, attends=1, dropout=0.0),
    "small": dict(channels=1, widths=[16, 32, 32], depth=1, groups=8, attends=2, dropout=0.0),
    "full": dict(channels=3, widths=[128, 256, 256, 256], depth=2, groups=32, attends=1, dropout=0.1)
}


def build(size):
    return UNet(**SETTINGS[size])


def example(size, count):
    batch = images.random(count, 10 if size == "tiny" else 32, SETTINGS[size]["channels"])
    return {**batch, "noise": torch.randn_like(batch["image"]), "step": torch.randint(STEPS, (count,))}


def loss(module, batch):
    share = torch.cumprod(1 - torch.linspace(1e-4, 0.02, STEPS), 0)[batch["step"].long()][:, None, None, None]
    noisy = batch["image"] * share.sqrt() + batch["noise"] * (1 - share).sqrt()
    return F.mse_loss(module(noisy, batch["step"]), batch["noise"]), {}


def SIZES(size):
    return {"part": 3, "head": 1}


FIELDS = {**images.FIELDS, "noise": images.IMAGE, "step": ["batch"]}
NAMES = images.linear("time.layers.0", "early", "out", "feature") + images.linear("time.layers.1", "late", "out", "feature")
NAMES += images.convolution("first", "first") + images.convolution("last", "last") + images.affine("norm", "norm")
NAMES += images.convolution("shrink.*", "shrink.*") + images.convolution("grow.*", "grow.*")
for block in ["down.*.*.", "middle.*.", "up.*.*."]:
    for part in ["first", "second", "shortcut"]:
        NAMES += images.convolution(block + part, block + part)
    for part in ["before", "between", "norm"]:
        NAMES += images.affine(block + part, block + part)
    NAMES += images.linear(block + "time", block + "time", "channel", "feature")
    for i, part in enumerate(["query", "key", "value"]):
        axis = "part=%d head depth" % i
        NAMES += [[block + "attention.%s.weight" % part, block + "attention.in_proj_weight", [axis, "channel"]],
                  [block + "attention.%s.bias" % part, block + "attention.in_proj_bias", [axis]]]
    NAMES += images.linear(block + "attention.out", block + "attention.out_proj", "channel", "head depth")
SEEN = [["middle", "middle.1", images.IMAGE], ["last", "last", images.IMAGE]]
for level, depth in [(0, 1), (1, 1), (2, 1), (3, 1)]:
    SEEN += [["down.%d" % level, "down.%d.%d" % (level, depth - 1), images.IMAGE],
             ["up.%d" % level, "up.%d.%d" % (level, depth), images.IMAGE]]
