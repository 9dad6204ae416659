# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a twin from the weights and on the batches that `heddle-models compare` wrote:

    compare.py NAME SIZE FOLDER

FOLDER has weights.safetensors, {path: tensor}; batches-*.safetensors and perhaps test.safetensors, {STEP.FIELD: tensor}; and
recipe.json. The script writes twin.safetensors there, with the "losses" before each step, the last weights,
"parameter.PATH", the mean loss and measures of the test data, "test.MEASURE", and the "losses.SEED" of further runs from
weights with noise, as many as "noisy" of the recipe. Autocast rounds to the type "products" of the recipe, "bf16" or "f16".
"""
import collections
import glob
import importlib
import json
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "twins"))
import exchange  # noqa: E402


NOISE = 1e-7  # relative to each weight, about one rounding of f32
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}  # of the recipe's "products"


def take_out_dropout(module):
    for part in module.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
        elif isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0


def give_weights(twin, size, module, path):
    weights, _ = exchange.read(path)
    parameters = dict(module.named_parameters())
    views = exchange.views(twin, size, {path: each.data for path, each in parameters.items()})
    missing = set(weights) ^ set(views)
    assert not missing, "only one of the two has: %s" % ", ".join(sorted(missing))
    for path, (view, names) in views.items():
        value, axes = weights[path]
        view.copy_(value.permute([axes.index(each) for each in names]))
    return parameters


def add_noise(module, seed):
    draws = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for each in module.parameters():
            noise = torch.randn(each.shape, generator=draws, dtype=torch.float64)
            each.copy_(each.double() * (1 + NOISE * noise))


def batches_of(twin, path):
    """The batches of a file, in order."""
    arrays, _ = exchange.read(path)
    batches = collections.defaultdict(dict)
    for key, (value, axes) in arrays.items():
        step, field = key.split(".", 1)
        if field in twin.FIELDS:
            value = value.permute([axes.index(each) for each in twin.FIELDS[field]])
            batches[int(step)][field] = value if value.is_floating_point() else value.long()
    return [batches[step] for step in sorted(batches)]


def loss_of(twin, module, batch, recipe):
    kind = TYPES.get(recipe["products"])
    with torch.autocast("cpu", kind or torch.bfloat16, enabled=kind is not None):
        return twin.loss(module, batch)


def train(twin, module, folder, recipe):
    name, options = recipe["optimizer"]
    update = getattr(torch.optim, name)(module.parameters(), recipe["rates"][0], **options)
    scaler = torch.amp.GradScaler("cpu", enabled=recipe["products"] == "f16")
    losses = []
    for path in sorted(glob.glob(os.path.join(folder, "batches-*.safetensors"))):
        for batch in batches_of(twin, path):
            for group in update.param_groups:
                group["lr"] = recipe["rates"][len(losses)]
            update.zero_grad()
            loss, _ = loss_of(twin, module, batch, recipe)
            scaler.scale(loss).backward()
            scaler.unscale_(update)
            if recipe["clip"]:
                torch.nn.utils.clip_grad_norm_(module.parameters(), recipe["clip"])
            scaler.step(update)
            scaler.update()
            losses.append(float(loss.detach()))
    return losses


@torch.no_grad()
def test(twin, module, path, recipe):
    sums, batches = collections.Counter(), batches_of(twin, path)
    for batch in batches:
        loss, measures = loss_of(twin, module, batch, recipe)
        for name, value in {"loss": loss, **measures}.items():
            sums["test." + name] += float(value) / len(batches)
    return sums


def main(name, size, folder):
    twin = importlib.import_module(name)
    with open(os.path.join(folder, "recipe.json")) as file:
        recipe = json.load(file)
    if recipe["threads"]:
        torch.set_num_threads(recipe["threads"])
    weights = os.path.join(folder, "weights.safetensors")

    def trained(seed):
        module = twin.build(size).train()
        if not recipe["dropout"]:
            take_out_dropout(module)
        parameters = give_weights(twin, size, module, weights)
        if seed:
            add_noise(module, seed)
        return module, parameters, (torch.tensor(train(twin, module, folder, recipe)), ["step"])

    result = {"losses.%d" % seed: trained(seed)[2] for seed in range(1, recipe["noisy"] + 1)}
    module, parameters, result["losses"] = trained(0)
    for path, (view, names) in exchange.views(twin, size, parameters).items():
        result["parameter." + path] = (view, names)
    tests = os.path.join(folder, "test.safetensors")
    if recipe["dropout"] and os.path.exists(tests):
        for key, value in test(twin, module.eval(), tests, recipe).items():
            result[key] = (torch.tensor(value), [])
    exchange.write(os.path.join(folder, "twin.safetensors"), result)


if __name__ == "__main__":
    main(*sys.argv[1:])
