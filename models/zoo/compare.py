# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a twin from the weights and on the batches that `heddle-models compare` wrote:

    compare.py NAME SIZE FOLDER RATE adam|sgd

FOLDER has weights.safetensors, {path: tensor}, and batches.safetensors, {STEP.FIELD: tensor}; it gets twin.safetensors with
"losses" before each step and the last weights, "parameter.PATH". Nothing is dropped out.
"""
import importlib
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "twins"))
import exchange  # noqa: E402


def take_out_dropout(module):
    for part in module.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
        elif isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0


def main(name, size, folder, rate, optimizer):
    twin = importlib.import_module(name)
    module = twin.build(size).train()
    take_out_dropout(module)
    weights, _ = exchange.read(os.path.join(folder, "weights.safetensors"))
    parameters = dict(module.named_parameters())
    views = exchange.views(twin, size, {path: each.data for path, each in parameters.items()})
    missing = set(weights) ^ set(views)
    assert not missing, "only one of the two has: %s" % ", ".join(sorted(missing))
    for path, (view, names) in views.items():
        value, axes = weights[path]
        view.copy_(value.permute([axes.index(each) for each in names]))
    arrays, _ = exchange.read(os.path.join(folder, "batches.safetensors"))
    batches = {}
    for key, (value, axes) in arrays.items():
        step, field = key.split(".", 1)
        if field in twin.FIELDS:
            value = value.permute([axes.index(each) for each in twin.FIELDS[field]])
            batches.setdefault(int(step), {})[field] = value if value.is_floating_point() else value.long()
    if optimizer == "adam":
        update = torch.optim.Adam(module.parameters(), float(rate), eps=1e-6)
    else:
        update = torch.optim.SGD(module.parameters(), float(rate), 0.9)
    losses = []
    for step in sorted(batches):
        update.zero_grad()
        loss, _ = twin.loss(module, batches[step])
        loss.backward()
        update.step()
        losses.append(float(loss.detach()))
    result = {"losses": (torch.tensor(losses), ["step"])}
    for path, (view, names) in exchange.views(twin, size, parameters).items():
        result["parameter." + path] = (view, names)
    exchange.write(os.path.join(folder, "twin.safetensors"), result)


if __name__ == "__main__":
    main(*sys.argv[1:])
