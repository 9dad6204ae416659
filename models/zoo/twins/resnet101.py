# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ResNet-101 (He et al., 2016); names and sizes as in torchvision."""
import resnet50
from resnet50 import FIELDS, NAMES, SAMPLES, SEEN, example, loss  # noqa: F401

DEPTHS = {"tiny": [1, 2, 1], "small": [2, 2, 4], "full": [3, 4, 23, 3]}


def build(size):
    return resnet50.ResNet(**{**resnet50.SETTINGS[size], "depths": DEPTHS[size]})
