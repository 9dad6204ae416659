# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recurrent language model with windows of two steps (Jia et al., FlexFlow, 2018)."""
import torch

import rnnlm


def example(size, count):
    return {field: torch.randint(rnnlm.SETTINGS[size]["words"], (count, 2)) for field in ["token", "next"]}


build, loss, SIZES, FIELDS, NAMES, SEEN = rnnlm.build, rnnlm.loss, rnnlm.SIZES, rnnlm.FIELDS, rnnlm.NAMES, rnnlm.SEEN
