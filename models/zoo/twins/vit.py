# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ViT-B/16 (Dosovitskiy et al., 2021)."""
import images
import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, channels, side, patch, features, depth, heads, hidden, classes):
        super().__init__()
        self.patches = nn.Conv2d(channels, features, patch, stride=patch)
        self.start = nn.Parameter(torch.zeros(1, 1, features))
        self.positions = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, features) * 0.02)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(features, heads, hidden, dropout=0.0, activation="gelu", layer_norm_eps=1e-6,
                                       batch_first=True, norm_first=True) for _ in range(depth)])
        self.norm = nn.LayerNorm(features, eps=1e-6)
        self.last = nn.Linear(features, classes)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.start.expand(len(x), -1, -1), x], 1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.last(self.norm(x[:, 0]))


SETTINGS = {
    "tiny": dict(channels=1, side=11, patch=5, features=6, depth=2, heads=3, hidden=13, classes=10),
    "small": dict(channels=1, side=32, patch=4, features=64, depth=4, heads=4, hidden=128, classes=10),
    "full": dict(channels=3, side=224, patch=16, features=768, depth=12, heads=12, hidden=3072, classes=1000)
}


def build(size):
    return ViT(**SETTINGS[size])


def example(size, count):
    setting = SETTINGS[size]
    return images.random(count, setting["side"], setting["channels"], setting["classes"])


def SIZES(size):
    setting = SETTINGS[size]
    return {"head": setting["heads"], "depth": setting["features"] // setting["heads"]}


loss, FIELDS = images.classify, images.FIELDS
NAMES = [["patches.weight", "patches.weight", ["feature", "channel", "row_k", "column_k"]],
         ["patches.bias", "patches.bias", ["feature"]],
         ["start", "start", ["one=0", "token", "feature"]], ["positions", "positions", ["one=0", "token", "feature"]]]
NAMES += images.affine("norm", "norm", "feature") + images.linear("last", "last", "class", "feature")
for i, part in enumerate(["query", "key", "value"]):
    NAMES += [["layers.*.attention.%s.weight" % part, "layers.*.self_attn.in_proj_weight", ["part=%d head depth" % i, "feature"]],
              ["layers.*.attention.%s.bias" % part, "layers.*.self_attn.in_proj_bias", ["part=%d head depth" % i]]]
NAMES += images.linear("layers.*.attention.out", "layers.*.self_attn.out_proj", "feature", "head depth")
NAMES += images.linear("layers.*.feed.up", "layers.*.linear1", "hidden", "feature")
NAMES += images.linear("layers.*.feed.down", "layers.*.linear2", "feature", "hidden")
NAMES += images.affine("layers.*.norms.0", "layers.*.norm1", "feature")
NAMES += images.affine("layers.*.norms.1", "layers.*.norm2", "feature")
SEEN = [["layers.%d" % i, "layers.%d" % i, ["batch", "token", "feature"]] for i in range(12)]
SEEN += [["last", "last", ["batch", "class"]]]
