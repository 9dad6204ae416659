# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's PyTorch twin (models/zoo/twins) as a peer of heddle-bench, in a separate process:

    twin_peer.py train|infer eager|compiled|bf16 NAME SIZE THREADS DTYPE BATCH

It prepares a training step with the fused Adam, or the evaluation of a batch, prints a line of JSON, then answers as described
in bench/peers/Process.h. Images are stored channels-last; `compiled` is torch.compile, `bf16` autocast. Prints nothing and ends
if there is no PyTorch, or no twin. With jemalloc preloaded it calls itself "+tuned".
"""
import importlib
import json
import os
import sys
import time
import warnings

import peer

warnings.filterwarnings("ignore")

try:
    import torch
except ImportError:
    sys.exit(0)

task, how, name, size, threads, _, batch = sys.argv[1:]
torch.set_num_threads(int(threads))
torch.manual_seed(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "zoo", "twins"))
try:
    twin = importlib.import_module(name)
except ImportError:
    sys.exit(0)


def lastly(value):
    return value.contiguous(memory_format=torch.channels_last) if value.dim() == 4 else value


module = twin.build(size)
fields = twin.example(size, int(batch))
if any(value.dim() == 4 for value in fields.values()):
    module = module.to(memory_format=torch.channels_last)
fields = {field: lastly(value) for field, value in fields.items()}
module.train(task == "train")


def loss(fields):
    with torch.autocast("cpu", torch.bfloat16, enabled=how == "bf16"):
        return twin.loss(module, fields)[0]


if how == "compiled":
    loss = torch.compile(loss)
optimizer = torch.optim.Adam(module.parameters(), 1e-4, fused=True)


def train():
    optimizer.zero_grad(set_to_none=True)
    loss(fields).backward()
    optimizer.step()


def infer():
    with torch.inference_mode():
        loss(fields)


run = {"train": train, "infer": infer}[task]
begin = time.perf_counter()
run()
first = time.perf_counter() - begin
begin = time.perf_counter()
run()
second = time.perf_counter() - begin
line = {"system": "torch-" + torch.__version__.split("+")[0] + ("" if how == "eager" else "-" + how) + peer.suffix()}
if how == "compiled":
    line["compile_ms"] = 1e3 * max(0, first - second)
peer.answer(run, json.dumps(line))
