# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation by transformers as a peer of heddle-bench, in a separate process:

    generate_peer.py generate eager|bf16 NAME SIZE THREADS DTYPE PROMPT LENGTH CAPACITY

A run feeds PROMPT tokens, then generates LENGTH tokens greedily, one by one, with a growing cache of keys and values (CAPACITY
is not used). The model is transformers' implementation, with the sizes of the twin (models/zoo/twins) and random weights.
Prints nothing and ends if there is no such model, or no transformers. With jemalloc preloaded it calls itself "+tuned".
"""
import importlib
import json
import os
import sys
import warnings

import peer

warnings.filterwarnings("ignore")

try:
    import torch
    import transformers
except ImportError:
    sys.exit(0)

_, how, name, size, threads, _, prompt, length, _ = sys.argv[1:]
if name != "gpt":
    sys.exit(0)
torch.set_num_threads(int(threads))
torch.manual_seed(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "zoo", "twins"))
setting = importlib.import_module(name).SETTINGS[size]
config = transformers.GPT2Config(vocab_size=setting["words"], n_positions=setting["length"], n_embd=setting["features"],
                                 n_layer=setting["layers"], n_head=setting["heads"])
model = transformers.GPT2LMHeadModel(config).eval()
tokens = torch.full((1, int(prompt)), 97 % setting["words"])


def run():
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=how == "bf16"):
        given, past = tokens, None
        for _ in range(int(length)):
            found = model(given, past_key_values=past, use_cache=True)
            given, past = found.logits[:, -1:].argmax(-1), found.past_key_values


run()
system = "transformers-" + transformers.__version__ + ("" if how == "eager" else "-" + how) + peer.suffix()
peer.answer(run, json.dumps({"system": system}))
