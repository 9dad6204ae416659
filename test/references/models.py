#!/usr/bin/env python3
# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes the reference values of the models with their PyTorch twins (tried with 2.15):

    python3 test/references/models.py            # NAME.safetensors beside this file for each twin, models/zoo/twins/NAME.py
    python3 test/references/models.py resnet     # only these

models/zoo/twins/exchange.py says what a twin consists of. Each file belongs to the model's tiny setting. It holds, with
paths, names of axes and element types (f32, i32) of Heddle's model:

    parameter.PATH                     before the first step
    batch.FIELD                        the batch of all steps; "weight" and "progress" are 1
    seen.000.PATH, seen.001.PATH, ...  what layers produce in training mode, in the order of their calls
    loss, measure.NAME                 of the batch
    gradient.PATH                      of the loss
    moments.PATH.mean, .variance       running moments after the first pass, from mean 0 and variance 1
    sgd.PATH, adam.PATH                parameters after ten steps

and as notes (metadata): "steps"; "sgd.rate", "sgd.momentum"; "adam.rate", "adam.epsilon"; "names", the twin's NAMES as JSON.

Everything is computed in f64 from parameters and batches that are f32 and written as f32, so that twins must not ask for
f32. Adam's epsilon is large, since gradients that are zero but for rounding (of a bias that a softmax takes away) would else
be steps of full length. The rate of SGD follows from the lengths of parameters and gradient. Parameters begin at random
numbers also where PyTorch has zeros and ones, which hide mistakes. A twin may have SAMPLES, the size of the batch, if 3 are
too few. Tests read the files without Python.
"""
import copy
import importlib
import json
import math
import os
import sys
import zlib

import torch

here = os.path.dirname(os.path.abspath(__file__))
twins = os.path.join(here, "..", "..", "models", "zoo", "twins")
sys.path.insert(0, twins)
import exchange  # noqa: E402

STEPS, MOMENTUM, RATE, EPSILON = 10, 0.9, 1e-3, 1e-3  # the rate is Adam's
BOUND = 1e-4  # of the tests, relative to each tensor's largest magnitude


def randomise(module):
    """Scales matrices to preserve the magnitude through a ReLU; randomises vectors initialised with 0 or 1."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            parameter.data = torch.randn_like(parameter) * math.sqrt(2 * parameter.shape[0] / parameter.numel())
        elif (parameter == parameter.flatten()[0]).all():
            parameter.data += torch.randn_like(parameter) * 0.2


def observe(twin, module, put):
    """Calls put(path, output, axes) for the outputs of the modules of SEEN."""
    def hook(path, axes, index):
        return lambda _, __, output: put(path, output[index] if isinstance(output, tuple) else output, axes)

    handles = []
    for name, part in module.named_modules():
        for path, pattern, axes, *index in twin.SEEN:
            ours = exchange.translated(pattern, name, path)
            if ours is not None:
                handles.append(part.register_forward_hook(hook(ours, axes, *(index or [0]))))
    return handles


def steps(twin, module, batch, optimizer):
    for _ in range(STEPS):
        optimizer.zero_grad()
        twin.loss(module, batch)[0].backward()
        optimizer.step()


def length(tensors):
    return math.sqrt(sum(float(each.detach().square().sum()) for each in tensors.values()))


def narrow(value):
    return value.float() if value.is_floating_point() else value.to(torch.int32)


def gradients(twin, module, batch):
    module = copy.deepcopy(module)
    twin.loss(module, batch)[0].backward()
    return {path: each.grad if each.grad is not None else torch.zeros(()) for path, each in module.named_parameters()}


def error(narrow, wide):
    """The error of f32, relative to each gradient's largest magnitude; infinite if one is zero."""
    whole, worst = max(float(each.abs().max()) for each in wide.values()), 0.0
    for path, each in wide.items():
        most = float(each.abs().max())
        if most == 0:
            return math.inf
        if most > 1e-6 * whole:
            worst = max(worst, float((narrow[path] - each).abs().max()) / most)
    return worst


def draw(name, twin, samples):
    """A module and a batch in f64, for which f32 is precise: the best of 40 seeds, or the first that is good enough. Small
    networks often have ReLUs whose outputs are all 0 (then more seeds are tried), or norms over values that are nearly equal."""
    best, kept = math.inf, None
    for seed in range(200):
        torch.set_default_dtype(torch.float32)
        torch.manual_seed(zlib.crc32(("%s %d" % (name, seed)).encode()))
        module = twin.build("tiny").train()
        randomise(module)
        batch = twin.example("tiny", samples)
        narrow = gradients(twin, module, batch)
        torch.set_default_dtype(torch.float64)
        module = module.double()
        batch = {field: value.double() if value.is_floating_point() else value for field, value in batch.items()}
        off = error(narrow, gradients(twin, module, batch))
        if off < best:
            best, kept = off, (module, batch)
        if best < 3e-5 or (kept and seed >= 39):
            return kept
    raise AssertionError("%s: gradients are zero whatever the seed" % name)


def trained(twin, module, batch, make, rate):
    """The parameters after the steps, and the rate: the largest of rate, rate / 2, rate / 5, rate / 10, ... for which f32 is
    within a quarter of the tests' bound of f64, also from parameters whose last bits differ. The steps of some networks
    (routing by agreement) amplify every rounding, and ReLUs and maxima near a tie choose otherwise. The other three
    quarters are for programs that sum in other orders."""
    def run(kind, noise=0.0):
        torch.set_default_dtype(kind)
        copied = copy.deepcopy(module).to(kind)
        for each in copied.parameters():
            each.data *= 1 + noise * torch.randn_like(each)
        fields = {field: value.to(kind) if value.is_floating_point() else value for field, value in batch.items()}
        steps(twin, copied, fields, make(copied.parameters(), rate))
        return {path: each.detach() for path, each in copied.named_parameters()}

    largest = rate
    for factor in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        rate = largest / factor
        wide = run(torch.float64)
        if all(error(run(torch.float32, noise), wide) < BOUND / 4 for noise in (0.0, 1e-7, 1e-7, 1e-7)):
            return wide, rate
    raise AssertionError("f32 is precise at no rate")


def reference(name):
    twin = importlib.import_module(name)
    samples = getattr(twin, "SAMPLES", 3)
    module, batch = draw(name, twin, samples)
    arrays = {}

    def put(key, value, axes):
        assert key not in arrays, "%s: '%s' twice" % (name, key)
        assert torch.isfinite(value).all(), "%s: '%s' is not finite" % (name, key)
        arrays[key] = (narrow(value.detach()), axes)

    def put_all(word, tensors):
        for path, (value, axes) in exchange.views(twin, "tiny", tensors).items():
            put("%s.%s" % (word, path), value, axes)

    parameters = dict(module.named_parameters())
    put_all("parameter", parameters)
    for field, value in batch.items():
        put("batch." + field, value, twin.FIELDS[field])
    put("batch.weight", torch.ones(samples), ["batch"])
    put("batch.progress", torch.ones(()), [])
    start, seen = copy.deepcopy(module), []
    handles = observe(twin, module, lambda path, value, axes: seen.append((path, value, axes)))
    loss, measures = twin.loss(module, batch)
    for handle in handles:
        handle.remove()
    for i, (path, value, axes) in enumerate(seen):
        put("seen.%03d.%s" % (i, path), value, axes)
    put("loss", loss, [])
    for measure, value in measures.items():
        put("measure." + measure, value, [])
    slopes = dict(zip(parameters, torch.autograd.grad(loss, list(parameters.values()))))
    put_all("gradient", slopes)
    for path, (value, axes) in exchange.views(twin, "tiny", dict(module.named_buffers())).items():
        put(path, value, axes)
    rate = 2.0 ** math.floor(math.log2(2e-3 * length(parameters) / length(slopes)))
    notes = {"steps": str(STEPS), "sgd.momentum": str(MOMENTUM), "adam.epsilon": str(EPSILON), "names": json.dumps(twin.NAMES)}
    for word, most, make in [("sgd", rate, lambda p, rate: torch.optim.SGD(p, rate, MOMENTUM)),
                             ("adam", RATE, lambda p, rate: torch.optim.Adam(p, rate, eps=EPSILON))]:
        parameters, used = trained(twin, start, batch, make, most)
        put_all(word, parameters)
        notes[word + ".rate"] = str(used)
    torch.set_default_dtype(torch.float32)
    path = os.path.join(here, name + ".safetensors")
    exchange.write(path, arrays, notes)
    count = sum(each.numel() for each in module.parameters())
    print("%s: %d parameters, %d layers, %d bytes" % (name, count, len(seen), os.path.getsize(path)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    every = [file[:-3] for file in sorted(os.listdir(twins)) if file.endswith(".py") and file not in ("exchange.py", "images.py")]
    for each in sys.argv[1:] or every:
        reference(each)
