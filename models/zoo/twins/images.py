# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared code of the twins of image models (models/zoo/Images.h)."""
import torch
from torch.nn import functional as F

IMAGE = ["batch", "channel", "row", "column"]
FIELDS = {"image": IMAGE, "label": ["batch"]}
WEIGHT = ["out", "channel", "row_k", "column_k"]


def accuracy(scores, label):
    return {"accuracy": (scores.argmax(1) == label).to(scores.dtype).mean()}


def classify(module, batch):
    scores = module(batch["image"])
    return F.cross_entropy(scores, batch["label"].long()), accuracy(scores, batch["label"])


def random(count, side, channels=1, classes=10):
    return {"image": torch.randn(count, channels, side, side), "label": torch.randint(classes, (count,))}


def linear(ours, theirs, outs, ins, bias=True):
    return [[ours + ".weight", theirs + ".weight", [outs, ins]]] + bias * [[ours + ".bias", theirs + ".bias", [outs]]]


def convolution(ours, theirs, bias=True):
    return [[ours + ".weight", theirs + ".weight", WEIGHT]] + bias * [[ours + ".bias", theirs + ".bias", ["out"]]]


def affine(ours, theirs, name="channel"):
    return [[ours + ".scale", theirs + ".weight", [name]], [ours + ".shift", theirs + ".bias", [name]]]


def batch_norm(ours, theirs):
    return affine(ours, theirs) + [["moments.%s.mean" % ours, theirs + ".running_mean", ["channel"]],
                                   ["moments.%s.variance" % ours, theirs + ".running_var", ["channel"]]]
