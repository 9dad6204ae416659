#!/usr/bin/env python3
# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes reference values of layers and losses in f64 with PyTorch (tried with 2.15):

    python3 test/references/operators.py            # writes a file for each function below, pooling.safetensors ...
    python3 test/references/operators.py pooling    # only these

Each case is a few tensors: CASE.input.NAME, CASE.output, CASE.cotangent, and CASE.gradient.NAME of sum(output * cotangent)
for each input of floats. Some cases have further results, CASE.result.NAME, without gradients. Inputs include the edges that
PyTorch's own tests use: sizes of 1, ties, zeros, infinities, empty bags. Tests read the files without Python
(test/unit/nn/Recorded.h).
"""
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "models", "zoo", "twins"))
import exchange  # noqa: E402

arrays = {}
INF, NAN = float("inf"), float("nan")


def put(name, value, axes):
    assert name not in arrays, name
    arrays[name] = (value, axes)


def case(name, run, axes, inputs, results=None, slopes=True):
    """`inputs`: {path: (tensor, axes)}; `run` computes the output. `results`: {path: (tensor, axes)}."""
    output = run()
    cotangent = torch.randn(output.shape)
    put(name + ".output", output, axes)
    for path, (value, names) in inputs.items():
        put("%s.input.%s" % (name, path), value, names)
    for path, (value, names) in (results or {}).items():
        put("%s.result.%s" % (name, path), value, names)
    real = [(path, *entry) for path, entry in inputs.items() if entry[0].requires_grad]
    if not slopes or not real:
        return
    put(name + ".cotangent", cotangent, axes)
    gradients = torch.autograd.grad((output * cotangent).sum(), [each[1] for each in real])
    for (path, _, names), gradient in zip(real, gradients):
        put("%s.gradient.%s" % (name, path), gradient, names)


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


def given(values):
    return torch.tensor(values).requires_grad_()


PLANES = ["batch", "channel", "row", "column"]


def axes_of(count):
    return ["batch", "channel"] + ["row", "column", "depth"][:count]


def places(flat, sizes):
    """Coordinates of PyTorch's flat indices into the last axes, which have these sizes."""
    found = []
    for size in reversed(sizes):
        found.insert(0, flat % size)
        flat = flat // size
    return {each: (value, axes_of(len(sizes))) for each, value in zip(["row", "column", "depth"], found)}


def pooling():
    def most(name, x, **options):
        count = x.dim() - 2
        pool = [F.max_pool1d, F.max_pool2d, F.max_pool3d][count - 1]
        _, flat = pool(x, return_indices=True, **options)
        case(name, lambda: pool(x, **options), axes_of(count), {"x": (x, axes_of(count))}, places(flat, x.shape[2:]))
    for i, (rows, columns) in enumerate([(7, 6), (6, 7), (5, 8)]):
        x = leaf(2, 2, rows, columns)
        most("max-ceil.%d" % i, x, kernel_size=(3, 2), stride=(2, 3), padding=(1, 0), ceil_mode=True)
        most("max-floor.%d" % i, x, kernel_size=(3, 2), stride=(2, 3), padding=(1, 0))
        most("max-dilated.%d" % i, x, kernel_size=2, stride=2, padding=1, dilation=(2, 1), ceil_mode=True)
        for name, options in {"padded": {}, "inside": {"count_include_pad": False}, "divisor": {"divisor_override": 5}}.items():
            for end, ceil in [("-ceil", True), ("", False)]:
                case("average-%s%s.%d" % (name, end, i), lambda: F.avg_pool2d(
                    x, (3, 2), (2, 3), (1, 0), ceil_mode=ceil, **options), PLANES, {"x": (x, PLANES)})
    y = leaf(2, 1, 8)
    most("max-1d", y, kernel_size=3, stride=2, ceil_mode=True)
    case("average-1d", lambda: F.avg_pool1d(y, 3, 4, 1, ceil_mode=True), axes_of(1), {"x": (y, axes_of(1))})
    z = leaf(1, 2, 4, 5, 3)
    most("max-3d", z, kernel_size=2, stride=2, ceil_mode=True)
    case("average-3d", lambda: F.avg_pool3d(z, 2, 2, ceil_mode=True), axes_of(3), {"x": (z, axes_of(3))})
    ties = torch.randint(0, 2, (2, 2, 5, 5)).double().requires_grad_()
    most("max-ties", ties, kernel_size=3, stride=2, padding=1, ceil_mode=True)
    edges = leaf(1, 1, 6, 6)
    with torch.no_grad():
        edges[0, 0, :2, :2] = -INF
        edges[0, 0, 2, 3] = INF
        edges[0, 0, 5, 4] = 1e308
        edges[0, 0, 4, 1] = NAN
    x, (values, flat) = edges, F.max_pool2d(edges, 2, return_indices=True)
    case("max-edges", lambda: F.max_pool2d(x, 2), PLANES, {"x": (x, PLANES)}, places(flat, x.shape[2:]))
    x = leaf(2, 1, 4, 6)
    _, flat = F.max_pool2d(x, 2, return_indices=True)
    values = leaf(2, 1, 2, 3)
    case("unpool", lambda: F.max_unpool2d(values, flat, 2), PLANES, {"values": (values, PLANES), **places(flat, x.shape[2:])})
    for i, (rows, columns, parts) in enumerate([(7, 5, (3, 4)), (6, 3, (3, 5)), (1, 1, (1, 2)), (4, 5, (4, 1))]):
        for word, x in [("", leaf(2, 1, rows, columns)), ("-ties", torch.randint(0, 2, (2, 1, rows, columns)).double().requires_grad_())]:
            _, flat = F.adaptive_max_pool2d(x, parts, return_indices=True)
            case("adaptive-max%s.%d" % (word, i), lambda: F.adaptive_max_pool2d(x, parts), PLANES, {"x": (x, PLANES)},
                 places(flat, x.shape[2:]))
        case("adaptive-average.%d" % i, lambda: F.adaptive_avg_pool2d(x, parts), PLANES, {"x": (x, PLANES)})


def resampling():
    shapes = [((7, 5), (3, 11)), ((1, 1), (3, 2)), ((3, 4), (1, 4)), ((2, 6), (8, 3))]
    for i, (whole, size) in enumerate(shapes):
        x = leaf(2, 1, *whole)
        for mode in ["nearest", "nearest-exact", "bilinear", "bicubic"]:
            for corners in [None] if mode.startswith("near") else [False, True]:
                case("%s%s.%d" % (mode, "-corners" if corners else "", i),
                     lambda: F.interpolate(x, size, mode=mode, align_corners=corners), PLANES, {"x": (x, PLANES)})
    for i, factors in enumerate([(2.5, 0.6), (0.5, 1.75), (3.0, 1 / 3)]):
        x = leaf(1, 2, 5, 8)
        for mode in ["nearest", "nearest-exact", "bilinear", "bicubic"]:
            case("%s-by.%d" % (mode, i), lambda: F.interpolate(x, scale_factor=factors, mode=mode), PLANES, {"x": (x, PLANES)})
    x, y = leaf(2, 1, 5), leaf(1, 1, 3, 2, 4)
    case("linear-1d", lambda: F.interpolate(x, 9, mode="linear"), axes_of(1), {"x": (x, axes_of(1))})
    case("trilinear", lambda: F.interpolate(y, (2, 5, 3), mode="trilinear"), axes_of(3), {"x": (y, axes_of(3))})
    POINTS = ["batch", "point", "query"]
    for mode in ["bilinear", "nearest"]:
        for padding in ["zeros", "border", "reflection"]:
            for corners in [False, True]:
                x, v, u = leaf(2, 3, 4, 5), leaf(2, 3, 4), leaf(2, 3, 4)
                with torch.no_grad():
                    v[0, 0] = torch.tensor([-1.0, 1.0, 0.0, 37.0])
                    u[0, :, 0] = torch.tensor([1.0, -1.0, -1e4])
                end = "%s-%s%s" % (mode, padding, "-corners" if corners else "")
                case("grid-" + end, lambda: F.grid_sample(x, torch.stack([u, v], -1), mode, padding, corners),
                     ["batch", "channel", "point", "query"], {"x": (x, PLANES), "v": (v, POINTS), "u": (u, POINTS)})
    x, w, v, u = leaf(2, 1, 3, 2, 4), leaf(2, 3, 2, 2), leaf(2, 3, 2, 2), leaf(2, 3, 2, 2)
    POINTS = ["batch", "point", "query", "other"]
    case("grid-3d", lambda: F.grid_sample(x, torch.stack([u, v, w], -1), "bilinear", "border", False),
         ["batch", "channel", "point", "query", "other"],
         {"x": (x, axes_of(3)), "w": (w, POINTS), "v": (v, POINTS), "u": (u, POINTS)})


def embedding_bag():
    words, features = 7, 3
    BAGS = ["bag", "feature"]

    def bags(name, index, offsets=None, ties=False, weight=None, **options):
        index = torch.tensor(index)
        table = torch.randint(0, 3, (words, features)).double().requires_grad_() if ties else leaf(words, features)
        inputs = {"table": (table, ["word", "feature"]), "index": (index, ["item"] if index.dim() == 1 else ["bag", "position"])}
        if offsets is not None:
            offsets = torch.tensor(offsets)
            ends = torch.cat([offsets[1:], torch.tensor([len(index)])])
            inputs["offsets"] = (offsets, ["bag"])
            inputs["lengths"] = (ends - offsets, ["bag"])
        if weight is not None:
            inputs["weight"] = (weight, inputs["index"][1])
        case(name, lambda: F.embedding_bag(index, table, offsets, per_sample_weights=weight, **options), BAGS, inputs)
    for mode in ["sum", "mean", "max"]:
        for end, ties in [("", False), ("-ties", True)]:
            bags("list-%s%s" % (mode, end), [3, 1, 6, 6, 0, 2, 2, 5], [0, 0, 3, 3, 4, 8], ties, mode=mode)
            bags("list-padding-%s%s" % (mode, end), [3, 2, 6, 2, 0, 2, 2, 5], [0, 1, 2, 5, 7], ties, mode=mode, padding_idx=2)
            bags("rows-%s%s" % (mode, end), [[3, 1, 6], [0, 0, 2]], None, ties, mode=mode)
        bags("one-%s" % mode, [4], [0], mode=mode)
        bags("rows-padding-%s" % mode, [[3, 2, 6], [2, 2, 2]], mode=mode, padding_idx=2)
    bags("list-weights", [3, 1, 6, 6, 0, 2], [0, 2, 2, 5], weight=leaf(6), mode="sum")
    bags("rows-weights", [[3, 1, 6], [0, 2, 2]], weight=leaf(2, 3), mode="sum", padding_idx=2)


def sample_losses():
    CLASSES, VECTORS = ["batch", "class"], ["batch", "feature"]

    def both(name, run, axes, inputs):
        """Without a reduction and with PyTorch's mean."""
        case(name, lambda: run("none"), axes, inputs)
        case(name + "-mean", lambda: run("mean"), [], inputs)
    for i, (size, classes) in enumerate([(6, 4), (1, 1), (3, 5)]):
        x, weight = leaf(size, classes), torch.rand(classes)
        label = torch.randint(0, classes, (size,))
        if size > 1:
            label[1] = 0
        inputs = {"x": (x, CLASSES), "label": (label, ["batch"]), "weight": (weight, ["class"])}
        both("nll.%d" % i, lambda r: F.nll_loss(x, label, reduction=r), ["batch"], inputs)
        both("nll-weight.%d" % i, lambda r: F.nll_loss(x, label, weight, reduction=r), ["batch"], inputs)
        if size > 1:
            other = label.clone()
            other[0] = -100
            both("nll-ignored.%d" % i, lambda r: F.nll_loss(x, other, weight, ignore_index=-100, reduction=r), ["batch"],
                 {**inputs, "label": (other, ["batch"])})
            both("nll-first.%d" % i, lambda r: F.nll_loss(x, label, weight, ignore_index=0, reduction=r), ["batch"], inputs)
        wanted = torch.randint(0, 2, (size, classes)).double()
        inputs = {"x": (x, CLASSES), "wanted": (wanted, CLASSES), "weight": (weight, ["class"])}
        both("soft-margin.%d" % i, lambda r: F.multilabel_soft_margin_loss(x, wanted, reduction=r), ["batch"], inputs)
        both("soft-margin-weight.%d" % i, lambda r: F.multilabel_soft_margin_loss(x, wanted, weight, reduction=r), ["batch"], inputs)
        labels = torch.full((size, classes), -1)
        for j in range(size):
            count = j % (classes + 1)
            labels[j, :count] = torch.randperm(classes)[:count]
        if classes == 5:
            labels[0] = torch.tensor([3, 3, -1, 0, 1])  # twice, and what follows the end
        both("margin.%d" % i, lambda r: F.multilabel_margin_loss(x, labels, reduction=r), ["batch"],
             {"x": (x, CLASSES), "labels": (labels, ["batch", "position"])})
    nll2 = leaf(2, 3, 4)
    label = torch.randint(0, 3, (2, 4))
    both("nll-rows", lambda r: F.nll_loss(nll2, label, reduction=r), ["batch", "row"],
         {"x": (nll2, ["batch", "class", "row"]), "label": (label, ["batch", "row"])})
    for i, (size, features) in enumerate([(5, 4), (1, 1)]):
        a, p, n = leaf(size, features), leaf(size, features), leaf(size, features)
        inputs = {"a": (a, VECTORS), "p": (p, VECTORS), "n": (n, VECTORS)}
        for word, options in {"": {}, "-swap": {"swap": True, "margin": 2.5}, "-one": {"p": 1.0}, "-three": {"p": 3.0, "eps": 1e-2},
                              "-most": {"p": INF}}.items():
            both("triplet%s.%d" % (word, i), lambda r: F.triplet_margin_loss(a, p, n, reduction=r, **options), ["batch"], inputs)
        y = torch.tensor([1, -1, 1, -1, -1][:size])
        inputs = {"x": (a, VECTORS), "y": (p, VECTORS), "wanted": (y, ["batch"])}
        both("cosine.%d" % i, lambda r: F.cosine_embedding_loss(a, p, y, reduction=r), ["batch"], inputs)
        both("cosine-margin.%d" % i, lambda r: F.cosine_embedding_loss(a, p, y, margin=-0.5, reduction=r), ["batch"], inputs)
    same = leaf(2, 3)
    case("triplet-same", lambda: F.triplet_margin_loss(same, same * 1, same * 1, eps=0.0, reduction="none"), ["batch"], {"x": (same, VECTORS)})
    zero = torch.zeros(1, 3, requires_grad=True)
    one = torch.tensor([1])
    case("cosine-zero", lambda: F.cosine_embedding_loss(zero, zero + 1, one, reduction="none"), ["batch"],
         {"x": (zero, VECTORS), "wanted": (one, ["batch"])})
    for i, size in enumerate([7, 1]):
        x, rate, y = leaf(size), torch.rand(size).add(0.1).requires_grad_(), torch.randint(0, 5, (size,)).double()
        if size > 1:
            y[:3] = torch.tensor([0.0, 1.0, 170.0])
        for word, options in {"": {}, "-full": {"full": True}}.items():
            both("poisson%s.%d" % (word, i), lambda r: F.poisson_nll_loss(x, y, reduction=r, **options), ["n"], {"x": (x, ["n"]), "y": (y, ["n"])})
            both("poisson-rate%s.%d" % (word, i), lambda r: F.poisson_nll_loss(rate, y, log_input=False, reduction=r, **options), ["n"],
                 {"x": (rate, ["n"]), "y": (y, ["n"])})
        variance, y = torch.rand(size).requires_grad_(), torch.randn(size)
        if size > 1:
            with torch.no_grad():
                variance[:2] = torch.tensor([0.0, 1e-8])
        for word, options in {"": {}, "-full": {"full": True, "eps": 1e-3}}.items():
            both("gaussian%s.%d" % (word, i), lambda r: F.gaussian_nll_loss(x, y, variance, reduction=r, **options), ["n"],
                 {"x": (x, ["n"]), "y": (y, ["n"]), "variance": (variance, ["n"])})
    rate = torch.tensor([0.0, 1.0], requires_grad=True)
    y = torch.tensor([0.0, 2.0])
    case("poisson-zero", lambda: F.poisson_nll_loss(rate, y, log_input=False, reduction="none"), ["n"], {"x": (rate, ["n"]), "y": (y, ["n"])})


def recurrent_options():
    def layers(name, module, shape, lengths=None):
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(torch.randn(parameter.shape) * 0.5)
        x, h = leaf(*shape), module.hidden_size
        gates, inputs = module.weight_ih_l0.shape[0] // h, {"x": (x, ["batch", "time", "feature"])}
        number = 0
        for layer in range(module.num_layers):
            for direction in ["", "_reverse"][:1 + module.bidirectional]:
                def of(word):
                    return getattr(module, "%s_l%d%s" % (word, layer, direction))

                def add(path, word, axes, view):
                    own = view(of(word)).detach().requires_grad_()
                    inputs["cells.%d.%s" % (number, path)] = (own, axes)
                    leaves.append((module, "%s_l%d%s" % (word, layer, direction), own))
                matrix = lambda w: w.reshape(gates, h, -1).transpose(1, 2)  # noqa: E731
                leaves = inputs.setdefault("leaves", [])
                add("input", "weight_ih", ["gate", "feature", "hidden"], matrix)
                add("recurrent", "weight_hh", ["gate", "from", "hidden"], matrix)
                if module.bias:
                    add("inputBias", "bias_ih", ["gate", "hidden"], lambda b: b.reshape(gates, h))
                    add("recurrentBias", "bias_hh", ["gate", "hidden"], lambda b: b.reshape(gates, h))
                if module.proj_size:
                    add("projection", "weight_hr", ["unit", "hidden"], lambda w: w.t())
                number += 1
        leaves = inputs.pop("leaves")
        if lengths is not None:
            lengths = torch.tensor(lengths)
            inputs["lengths"] = (lengths, ["batch"])

        def back(word, own):
            if word.startswith("bias"):
                return own.reshape(-1)
            return own.t() if own.dim() == 2 else own.transpose(1, 2).reshape(gates * h, -1)

        def run():
            weights = {word: back(word, own) for _, word, own in leaves}

            def call(packed):
                return torch.func.functional_call(module, weights, (packed,))
            if lengths is None:
                return call(x)
            output, last = call(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
            return nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])[0], last
        last = run()[1]
        last = last if isinstance(last, tuple) else [last]
        case(name, lambda: run()[0], ["batch", "time", "hidden"], inputs,
             {word: (value, ["cell", "batch", "hidden"]) for word, value in zip("hc", last)})
    for end, shape, hidden, lengths in [("", (3, 5, 4), 6, [5, 2, 1]), ("-ones", (1, 1, 1), 2, [1])]:
        layers("rnn" + end, nn.RNN(shape[2], hidden, bias=False, batch_first=True), shape)
        layers("gru" + end, nn.GRU(shape[2], hidden, bias=False, num_layers=2, bidirectional=True, batch_first=True), shape, lengths)
        layers("lstm" + end, nn.LSTM(shape[2], hidden, bias=False, batch_first=True), shape, lengths)
        layers("lstm-projection" + end, nn.LSTM(shape[2], hidden, num_layers=2, bidirectional=True, proj_size=1 + hidden // 3, batch_first=True),
               shape, lengths)
        layers("lstm-projection-alone" + end, nn.LSTM(shape[2], hidden, bias=False, proj_size=1, batch_first=True), shape)


def moments():
    """Batch normalisation with given moments. PyTorch's function has no gradients of these, its formula does."""
    for i, shape in enumerate([(2, 3, 4, 2), (1, 1, 1, 1)]):
        x, mean, variance, scale, shift = leaf(*shape), leaf(shape[1]), torch.rand(shape[1]).requires_grad_(), leaf(shape[1]), leaf(shape[1])
        if i == 0:
            with torch.no_grad():
                variance[1] = 0

        def run():
            own = [each[:, None, None] for each in [mean, variance, scale, shift]]
            y = (x - own[0]) / torch.sqrt(own[1] + 1e-5) * own[2] + own[3]
            assert torch.allclose(y, F.batch_norm(x, mean.detach(), variance.detach(), scale, shift), rtol=1e-12, atol=1e-12)
            return y
        channel = ["channel"]
        case("given.%d" % i, run, PLANES, {"x": (x, PLANES), "mean": (mean, channel), "variance": (variance, channel),
                                           "scale": (scale, channel), "shift": (shift, channel)})


FILES = [pooling, resampling, embedding_bag, sample_losses, recurrent_options, moments]
torch.set_default_dtype(torch.float64)
for make in FILES:
    word = make.__name__.replace("_", "-")
    if sys.argv[1:] and word not in sys.argv[1:]:
        continue
    torch.manual_seed(len(word))
    make()
    path = os.path.join(here, word + ".safetensors")
    exchange.write(path, arrays)
    print("%s: %d tensors, %d bytes" % (path, len(arrays), os.path.getsize(path)))
    arrays.clear()
