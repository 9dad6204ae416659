#!/usr/bin/env python3
"""Computes the reference values of test/unit/nn with PyTorch (tried with 2.15):

    python3 test/references/export.py            # writes the files beside this one

layers.safetensors: each case is a few tensors: CASE.layer.PATH (parameters by their paths in the layer), CASE.input.NAME,
CASE.output, CASE.cotangent, and CASE.gradient.layer.PATH, CASE.gradient.input.NAME: those of sum(output * cotangent). For
each layer there is a case of sizes as they come, one whose sizes are 1 (CASE-ones; PyTorch refuses some) and one whose sizes
are primes (CASE-primes). CASE.autocast.output and .gradients: how far PyTorch's autocast to bf16 is from these values.

training.safetensors: losses (CASE.x, CASE.target, CASE.loss, CASE.gradient), and parameters before and after ten steps of
each optimiser (SIZE.start, SIZE.curvature, SIZE.end.CASE).

Axes have names, in the metadata that heddle::io::readSafetensors reads. Tests read the files without Python.
"""
import json
import math
import os
import struct

import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "zoo", "twins"))
import gat  # noqa: E402

arrays = {}


def put(name, value, axes):
    value = value.detach().contiguous()
    if value.dtype == torch.bool:
        value = value.to(torch.int32)
    assert value.dim() == len(axes), (name, value.shape, axes)
    assert name not in arrays, name
    arrays[name] = (value, axes)


def write(path):
    header, data = {"__metadata__": {}}, b""
    types = {torch.float32: ("F32", "f"), torch.int64: ("I64", "q"), torch.int32: ("I32", "i")}
    for name, (value, axes) in arrays.items():
        word, code = types[value.dtype]
        numbers = value.flatten().tolist()
        block = struct.pack("<%d%s" % (len(numbers), code), *numbers)
        header[name] = {"dtype": word, "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(block)]}
        if axes:
            header["__metadata__"]["names:" + name] = ",".join(axes)
        data += block
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def finish(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    write(path)
    print("%s: %d tensors, %d bytes" % (name, len(arrays), os.path.getsize(path)))
    arrays.clear()


def randomise(module):
    """Randomises parameters, since PyTorch initialises many with 0 or 1, which would hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.5)
    return module


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


def same(value):
    return value


def autocast_errors(run, cotangent, real, parameters, output, gradients):
    """The error of PyTorch's own bf16: of the output, and of the worst gradient, each relative to its largest magnitude
    (of a gradient, at least a quarter of the largest one's). The most of several runs, from parameters with noise of a
    rounding to bf16: single runs differ, since rounding may flip a ReLU near 0."""
    draws = torch.Generator().manual_seed(7)
    whole = max(float(each.abs().max()) for each in gradients)
    units = [max(float(each.abs().max()), whole / 4, 1e-30) for each in gradients]
    unit = max(float(output.detach().abs().max()), 1e-30)

    def off(narrow, wide, unit):
        return float((narrow.detach().float() - wide.detach()).abs().max()) / unit

    worst = [0.0, 0.0]
    kept = [each.detach().clone() for each in parameters]
    for noise in [0.0] + 7 * [2.0 ** -9]:
        for each, value in zip(parameters, kept):
            each.data.copy_(value * (1 + noise * torch.randn(value.shape, generator=draws)))
        with torch.autocast("cpu", torch.bfloat16):
            narrow = run().float()
        rough = torch.autograd.grad((narrow * cotangent).sum(), real)
        worst[0] = max(worst[0], off(narrow, output, unit))
        worst[1] = max([worst[1]] + [off(*each) for each in zip(rough, gradients, units)])
    for each, value in zip(parameters, kept):
        each.data.copy_(value)
    return worst


def case(name, run, axes, parameters, inputs):
    """`run` returns the output. `parameters` and `inputs`: {path: (tensor, axes, view of it that has these axes)}."""
    output = run()
    cotangent = torch.randn(output.shape)
    put(name + ".output", output, axes)
    put(name + ".cotangent", cotangent, axes)
    leaves = [("layer." + p, *entry) for p, entry in parameters.items()]
    leaves += [("input." + p, *entry) for p, entry in inputs.items()]
    for path, value, names, view in leaves:
        put("%s.%s" % (name, path), view(value), names)
    real = [each for each in leaves if each[1].requires_grad]
    # Several paths may be parts of one tensor (the projections of attention).
    gradients = torch.autograd.grad((output * cotangent).sum(), [each[1] for each in real])
    for (path, _, names, view), gradient in zip(real, gradients):
        put("%s.gradient.%s" % (name, path), view(gradient), names)
    own = list({id(entry[0]): entry[0] for entry in parameters.values()}.values())
    errors = autocast_errors(run, cotangent, [each[1] for each in real], own, output, gradients)
    for word, error in zip(["output", "gradients"], errors):
        put("%s.autocast.%s" % (name, word), torch.tensor(error), [])


def linear(module, ins, outs, in_shape=None, out_shape=None):
    """weight [out, in] -> in, out; either may be several names."""
    in_shape, out_shape = in_shape or [module.in_features], out_shape or [module.out_features]
    result = {"weight": (module.weight, ins + outs,
                         lambda w: w.t().reshape(in_shape + out_shape))}
    if module.bias is not None:
        result["bias"] = (module.bias, outs, lambda b: b.reshape(out_shape))
    return result


def under(path, entries):
    return {path + "." + name: entry for name, entry in entries.items()}


def affine(module, axes, names=("scale", "shift")):
    result = {names[0]: (module.weight, axes, same)}
    if getattr(module, "bias", None) is not None:
        result[names[1]] = (module.bias, axes, same)
    return result


# Convolutions: x [batch, in, places], weight [out, in / groups, taps]; transposed: [in, out / groups, taps].
def convolution(name, module, places, batch=2):
    transposed = module.transposed
    count = module.weight.dim() - 2
    names = ["row", "column", "depth"][:count]
    taps = [each + "_k" for each in names]
    randomise(module)
    x = leaf(batch, module.in_channels, *places)
    groups = module.groups

    def view(w):
        if transposed:  # groups, in / groups, out / groups, taps -> in / groups, groups * out / groups
            w = w.reshape(groups, w.shape[0] // groups, w.shape[1], *w.shape[2:])
            w = w.transpose(0, 1).reshape(w.shape[1], -1, *w.shape[3:])
            return w
        return w.transpose(0, 1)
    parameters = {"weight": (module.weight, ["channel", "out"] + taps, view)}
    if module.bias is not None:
        parameters["bias"] = (module.bias, ["out"], same)
    case(name, lambda: module(x), ["batch", "channel"] + names, parameters,
         {"x": (x, ["batch", "channel"] + names, same)})


def convolutions():
    convolution("conv1d", nn.Conv1d(3, 5, 3, stride=2, padding=1), [11])
    convolution("conv2d", nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2), [7, 5])
    convolution("conv3d", nn.Conv3d(1, 2, 2, padding=1, bias=False), [2, 3, 1])
    convolution("conv-transpose1d", nn.ConvTranspose1d(3, 2, 3, stride=2, padding=1, output_padding=1), [5])
    convolution("conv-transpose2d", nn.ConvTranspose2d(4, 6, (3, 2), stride=(2, 3), dilation=(2, 1), groups=2), [3, 5])
    convolution("conv1d-ones", nn.Conv1d(1, 1, 3, stride=2, padding=1), [1], 1)
    convolution("conv2d-ones", nn.Conv2d(1, 1, 1), [1, 1], 1)
    convolution("conv3d-ones", nn.Conv3d(1, 1, 2, padding=1, bias=False), [1, 1, 1], 1)
    convolution("conv-transpose1d-ones", nn.ConvTranspose1d(1, 1, 3, stride=2, padding=1, output_padding=1), [1], 1)
    convolution("conv-transpose2d-ones", nn.ConvTranspose2d(1, 1, 1), [1, 1], 1)
    convolution("conv1d-primes", nn.Conv1d(5, 7, 3, stride=2, padding=1), [13], 3)
    convolution("conv2d-primes", nn.Conv2d(5, 5, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=5), [7, 11], 3)
    convolution("conv3d-primes", nn.Conv3d(2, 3, 2, padding=1, bias=False), [3, 5, 2], 2)
    convolution("conv-transpose1d-primes", nn.ConvTranspose1d(5, 3, 3, stride=2, padding=1, output_padding=1), [7], 2)
    convolution("conv-transpose2d-primes", nn.ConvTranspose2d(3, 3, (3, 2), stride=(2, 3), dilation=(2, 1), groups=3), [5, 7])


planes = ["batch", "channel", "row", "column"]


def planar(end, *shape):
    """Functions of images without parameters."""
    x = leaf(*shape)
    for name, module in [("max-pool", nn.MaxPool2d(3, stride=2, padding=1)),
                         ("average-pool", nn.AvgPool2d(3, stride=2, padding=1)),
                         ("average-pool-inside", nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False)),
                         ("adaptive-pool", nn.AdaptiveAvgPool2d(3)), ("repeated", nn.Upsample(scale_factor=2))]:
        case(name + end, lambda: module(x), planes, {}, {"x": (x, planes, same)})


def norms(end, shape, plane, groups):
    """`shape`: batch, time, feature. `plane`: an image. PyTorch rejects a single value in norms over positions."""
    x = leaf(*shape)
    for name, module, axes in [("layer-norm", nn.LayerNorm(shape[1:]), ["time", "feature"]),
                               ("rms-norm", nn.RMSNorm(shape[2:]), ["feature"])]:
        randomise(module)
        case(name + end, lambda: module(x), ["batch", "time", "feature"], affine(module, axes),
             {"x": (x, ["batch", "time", "feature"], same)})
    y = leaf(*plane)
    group = randomise(nn.GroupNorm(groups, plane[1]))
    case("group-norm" + end, lambda: group(y), planes, affine(group, ["channel"]), {"x": (y, planes, same)})
    batch = randomise(nn.BatchNorm2d(plane[1]))

    def first():
        batch.reset_running_stats()
        return batch(y)
    case("batch-norm" + end, first, planes, affine(batch, ["channel"]), {"x": (y, planes, same)})
    first()
    put("batch-norm%s.mean" % end, batch.running_mean, ["channel"])
    put("batch-norm%s.variance" % end, batch.running_var, ["channel"])
    batch.eval()
    case("batch-norm-evaluation" + end, lambda: batch(y), planes, affine(batch, ["channel"]), {"x": (y, planes, same)})


def linears(end, batch, ins, outs, classes):
    """`ins`, `outs`: sizes of two names each. `classes`: of the adaptive softmax; its first two ends and its divisor."""
    x = leaf(batch, *ins)
    module = randomise(nn.Linear(math.prod(ins), math.prod(outs)))
    case("linear" + end, lambda: module(x.flatten(1)).unflatten(1, outs), ["batch", "head", "depth"],
         linear(module, ["in", "feature"], ["head", "depth"], ins, outs), {"x": (x, ["batch", "in", "feature"], same)})
    y = leaf(batch, ins[1])
    two = [randomise(each) for each in [nn.Linear(ins[1], outs[0]), nn.Linear(outs[0], outs[1])]]
    parts = {}
    for i, each in enumerate(two):
        parts.update(under("layers.%d" % i, linear(each, ["feature"], ["out"])))
    case("perceptron" + end, lambda: two[1](torch.relu(two[0](y))), ["batch", "feature"], parts,
         {"x": (y, ["batch", "feature"], same)})
    weighted = randomise(nn.utils.parametrizations.weight_norm(nn.Linear(ins[1], outs[0])))
    weight = weighted.parametrizations.weight
    z = leaf(batch, ins[1])
    case("weight-norm" + end, lambda: weighted(z), ["batch", "out"],
         {"direction": (weight.original1, ["out", "in"], same), "length": (weight.original0, ["out"], lambda g: g[:, 0])},
         {"x": (z, ["batch", "in"], same), "bias": (weighted.bias, ["out"], same)})
    # Down is tail[i][0], up is tail[i][1].
    words, ends, divisor = classes
    adaptive = randomise(nn.AdaptiveLogSoftmaxWithLoss(ins[1], words, ends, div_value=divisor))
    parts = under("head", linear(adaptive.head, ["feature"], ["word"]))
    for i, tail in enumerate(adaptive.tail):
        parts.update(under("clusters.%d.down" % i, linear(tail[0], ["feature"], ["inner"])))
        parts.update(under("clusters.%d.up" % i, linear(tail[1], ["inner"], ["word"])))
    case("adaptive-softmax" + end, lambda: adaptive.log_prob(y), ["batch", "word"], parts,
         {"x": (y, ["batch", "feature"], same)})


def activations(end, batch, features):
    x, pairs = leaf(batch, features), leaf(batch, 2)
    for name, module in [("gelu", nn.GELU()), ("gelu-tanh", nn.GELU(approximate="tanh")), ("silu", nn.SiLU()),
                         ("elu", nn.ELU(0.7)), ("hard-tanh", nn.Hardtanh()), ("relu6", nn.ReLU6()),
                         ("threshold", nn.Threshold(0.3, -2.0)), ("softplus", nn.Softplus()), ("glu", nn.GLU()),
                         ("softmax", nn.Softmax(-1)), ("log-softmax", nn.LogSoftmax(-1))]:
        given = pairs if name == "glu" else x  # halves are one element each
        case(name + end, lambda: module(given * 3), ["batch", "feature"], {}, {"x": (given, ["batch", "feature"], same)})
    module = randomise(nn.PReLU(features))
    case("prelu" + end, lambda: module(x), ["batch", "feature"], {"slope": (module.weight, ["feature"], same)},
         {"x": (x, ["batch", "feature"], same)})


def embedding(end, shape, words, features, padding):
    tokens = torch.randint(0, words, shape)
    if padding is not None:
        tokens[0, 0] = padding
    module = nn.Embedding(words, features, padding_idx=padding)
    case("embedding" + end, lambda: module(tokens), ["batch", "time", "feature"],
         {"table": (module.weight, ["word", "feature"], same)}, {"tokens": (tokens, ["batch", "time"], same)})


# Recurrent networks: weight_ih [gates * hidden, in] -> gate, in, hidden.
def recurrent(name, module, x, lengths=None):
    randomise(module)
    h = module.hidden_size
    gates = module.weight_ih_l0.shape[0] // h

    def weight(w):
        return w.reshape(gates, h, -1).transpose(1, 2)
    parameters, number = {}, 0
    for layer in range(module.num_layers):
        for direction in ["", "_reverse"][:1 + module.bidirectional]:
            for path, word, axes, view in [
                    ("input", "weight_ih", ["gate", "feature", "hidden"], weight),
                    ("recurrent", "weight_hh", ["gate", "from", "hidden"], weight),
                    ("inputBias", "bias_ih", ["gate", "hidden"], lambda b: b.reshape(gates, h)),
                    ("recurrentBias", "bias_hh", ["gate", "hidden"], lambda b: b.reshape(gates, h))]:
                parameters["cells.%d.%s" % (number, path)] = (
                    getattr(module, "%s_l%d%s" % (word, layer, direction)), axes, view)
            number += 1
    inputs = {"x": (x, ["batch", "time", "feature"], same)}
    if lengths is not None:
        inputs["lengths"] = (lengths, ["batch"], same)

    def run():
        if lengths is None:
            return module(x)
        output, last = module(nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
        return nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])[0], last
    case(name, lambda: run()[0], ["batch", "time", "hidden"], parameters, inputs)
    last = run()[1]
    for word, value in zip("hc", last if isinstance(last, tuple) else [last]):
        put("%s.last.%s" % (name, word), value, ["cell", "batch", "hidden"])


def recurrents(end, shape, hidden, lengths):
    x, lengths = leaf(*shape), torch.tensor(lengths)
    recurrent("rnn-tanh" + end, nn.RNN(shape[2], hidden, batch_first=True), x)
    recurrent("rnn-relu" + end, nn.RNN(shape[2], hidden, nonlinearity="relu", num_layers=2, batch_first=True), x)
    for name, kind in [("gru", nn.GRU), ("lstm", nn.LSTM)]:
        recurrent(name + end, kind(shape[2], hidden, num_layers=2, bidirectional=True, batch_first=True), x, lengths)


# Attention: in_proj [3 * feature, feature], split into heads.
def attention(module):
    e, heads = module.embed_dim, module.num_heads
    parts = {}
    for i, path in enumerate(["query", "key", "value"]):
        def weight(w, i=i):
            return w[i * e:(i + 1) * e].t().reshape(e, heads, e // heads)

        def bias(b, i=i):
            return b[i * e:(i + 1) * e].reshape(heads, e // heads)
        parts[path + ".weight"] = (module.in_proj_weight, ["feature", "head", "depth"], weight)
        parts[path + ".bias"] = (module.in_proj_bias, ["head", "depth"], bias)
    parts.update(under("out", linear(module.out_proj, ["head", "depth"], ["feature"], [heads, e // heads])))
    return parts


def causal(size):
    return torch.triu(torch.ones(size, size, dtype=torch.bool), 1)


def beyond(lengths, size):
    return torch.arange(size)[None, :] >= lengths[:, None]


sequence = ["batch", "time", "feature"]


def rotary(x, base=10000.0):  # x [batch, head, time, depth]; the pairing of GPT-NeoX
    depth = x.shape[-1]
    rate = base ** (-torch.arange(0, depth, 2).float() / depth)
    angle = torch.arange(x.shape[-2]).float()[:, None] * rate[None, :]
    c, s = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
    half = torch.cat([-x[..., depth // 2:], x[..., :depth // 2]], -1)
    return x * c + half * s


def attentions(end, shape, heads, lengths, memory_size, turned):
    """`turned`: the shape of the input of rotary positions."""
    batch, time, features = shape
    x, lengths, memory = leaf(*shape), torch.tensor(lengths), leaf(batch, memory_size, features)
    module = randomise(nn.MultiheadAttention(features, heads, batch_first=True))
    inputs = {"x": (x, sequence, same)}
    case("attention" + end, lambda: module(x, x, x, need_weights=False)[0], sequence, attention(module), inputs)
    case("attention-causal" + end, lambda: module(x, x, x, attn_mask=causal(time), need_weights=False)[0], sequence,
         attention(module), inputs)
    def cut():  # what lies behind the lengths is read as zeros, also by the queries
        kept = x.masked_fill(beyond(lengths, time)[:, :, None], 0)
        return module(kept, kept, kept, key_padding_mask=beyond(lengths, time), need_weights=False)[0]
    case("attention-lengths" + end, cut, sequence, attention(module), {**inputs, "lengths": (lengths, ["batch"], same)})
    case("attention-cross" + end, lambda: module(x, memory, memory, need_weights=False)[0], sequence, attention(module),
         {**inputs, "memory": (memory, ["batch", "from", "feature"], same)})
    x4 = leaf(*turned)
    case("rotary" + end, lambda: rotary(x4), ["batch", "head", "time", "depth"], {},
         {"x": (x4, ["batch", "head", "time", "depth"], same)})


class Grouped(nn.Module):
    """Attention with fewer heads of keys than of queries, and a bias."""
    def __init__(self, features, heads, key_heads):
        super().__init__()
        self.sizes = [heads, key_heads, key_heads]
        self.depth = features // heads
        self.parts = nn.ModuleList(nn.Linear(features, size * self.depth) for size in self.sizes)
        self.out = nn.Linear(features, features)

    def forward(self, x, memory, bias):
        q, k, v = (part(of).unflatten(-1, (size, self.depth)).transpose(1, 2)
                   for part, of, size in zip(self.parts, [x, memory, memory], self.sizes))
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype), enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))


def masked_attentions(end, shape, heads, key_heads, memory_size):
    """A mask for each head, with the attention weights as a further result, and a bias with fewer heads of keys."""
    batch, time, features = shape
    x, memory = leaf(*shape), leaf(batch, memory_size, features)
    inputs = {"x": (x, sequence, same), "memory": (memory, ["batch", "from", "feature"], same)}
    module = randomise(nn.MultiheadAttention(features, heads, batch_first=True))
    mask = torch.rand(batch, heads, time, memory_size) < 0.5
    mask[..., memory_size // 2] = True  # a query that sees nothing gets NaN
    pairs = ["batch", "head", "time", "from"]
    hidden = (~mask).flatten(0, 1)
    case("attention-mask" + end, lambda: module(x, memory, memory, attn_mask=hidden, need_weights=False)[0], sequence,
         attention(module), {**inputs, "mask": (mask, pairs, same)})
    put("attention-mask" + end + ".weights",
        module(x, memory, memory, attn_mask=hidden, average_attn_weights=False)[1], pairs)
    grouped, bias = randomise(Grouped(features, heads, key_heads)), leaf(heads, time, memory_size)
    depth = features // heads
    parts = under("out", linear(grouped.out, ["head", "depth"], ["feature"], [heads, depth]))
    for path, part, size in zip(["query", "key", "value"], grouped.parts, grouped.sizes):
        parts.update(under(path, linear(part, ["feature"], ["head", "depth"], None, [size, depth])))
    case("attention-grouped" + end, lambda: grouped(x, memory, bias), sequence, parts,
         {**inputs, "bias": (bias, ["head", "time", "from"], same)})


# Layers of transformers.
def transformer(module, decoder=False):
    parts = under("attention", attention(module.self_attn))
    norms = [module.norm1, module.norm2]
    if decoder:
        parts.update(under("cross", attention(module.multihead_attn)))
        norms.append(module.norm3)
    parts.update(under("feed.up", linear(module.linear1, ["feature"], ["hidden"])))
    parts.update(under("feed.down", linear(module.linear2, ["hidden"], ["feature"])))
    for i, norm in enumerate(norms):
        parts.update(under("norms.%d" % i, affine(norm, ["feature"])))
    return parts


def transformers(end, shape, heads, hidden, memory_size, kept):
    """`heads`: of the encoder and of the decoder. `kept`: lengths of the memory."""
    batch, time, features = shape
    x, memory, kept = leaf(*shape), leaf(batch, memory_size, features), torch.tensor(kept)
    for name, first, activation in [("encoder", False, "relu"), ("encoder-pre", True, "gelu")]:
        module = randomise(nn.TransformerEncoderLayer(features, heads[0], hidden, dropout=0.0, activation=activation,
                                                      batch_first=True, norm_first=first))
        case(name + end, lambda: module(x, src_mask=causal(time), is_causal=True), sequence, transformer(module),
             {"x": (x, sequence, same)})
    for name, first in [("decoder", False), ("decoder-pre", True)]:
        module = randomise(nn.TransformerDecoderLayer(features, heads[1], hidden, dropout=0.0, batch_first=True,
                                                      norm_first=first))
        case(name + end, lambda: module(x, memory, tgt_mask=causal(time), memory_key_padding_mask=beyond(kept, memory_size)),
             sequence, transformer(module, True),
             {"x": (x, sequence, same), "memory": (memory, ["batch", "from", "feature"], same),
              "lengths": (kept, ["batch"], same)})


# A conformer's layer from PyTorch's modules, as in torchaudio (convolution_first=False).
class Feed(nn.Module):
    def __init__(self, feature, hidden):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(feature), nn.Linear(feature, hidden), nn.Linear(hidden, feature)

    def forward(self, x):
        return self.down(nn.functional.silu(self.up(self.norm(x))))


class Conformer(nn.Module):
    def __init__(self, feature, heads, hidden, window):
        super().__init__()
        self.first, self.last = Feed(feature, hidden), Feed(feature, hidden)
        self.norm, self.attention = nn.LayerNorm(feature), nn.MultiheadAttention(feature, heads, batch_first=True)
        self.conv_norm, self.widen = nn.LayerNorm(feature), nn.Linear(feature, 2 * feature)
        self.conv = nn.Conv1d(feature, feature, window, padding=(window - 1) // 2, groups=feature)
        self.batch_norm, self.narrow = nn.BatchNorm1d(feature), nn.Linear(feature, feature)
        self.end = nn.LayerNorm(feature)

    def forward(self, x):
        x = x + 0.5 * self.first(x)
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = nn.functional.glu(self.widen(self.conv_norm(x)))
        y = nn.functional.silu(self.batch_norm(self.conv(y.transpose(1, 2)))).transpose(1, 2)
        x = x + self.narrow(y)
        return self.end(x + 0.5 * self.last(x))


def conformer(end, shape, heads, hidden, window):
    """The batch norm needs more than one value, so the time is not 1."""
    module, x = randomise(Conformer(shape[2], heads, hidden, window)), leaf(*shape)
    parts = under("attention", attention(module.attention))
    for path, feed in [("first", module.first), ("last", module.last)]:
        parts.update(under(path + ".up", linear(feed.up, ["feature"], ["hidden"])))
        parts.update(under(path + ".down", linear(feed.down, ["hidden"], ["feature"])))
    parts.update(under("widen", linear(module.widen, ["feature"], ["hidden"])))
    parts.update(under("narrow", linear(module.narrow, ["feature"], ["hidden"])))
    parts["conv.weight"] = (module.conv.weight, ["feature", "hidden", "time_k"], lambda w: w.transpose(0, 1))
    parts["conv.bias"] = (module.conv.bias, ["hidden"], same)
    parts.update(under("convNorm", affine(module.batch_norm, ["feature"])))
    for i, norm in enumerate([module.first.norm, module.norm, module.conv_norm, module.last.norm, module.end]):
        parts.update(under("norms.%d" % i, affine(norm, ["feature"])))
    case("conformer" + end, lambda: module(x), sequence, parts, {"x": (x, sequence, same)})


def tds(end, batch, time, band, channel, window):
    """Flashlight's TDS block, with its norms over bands and channels only. x [batch, time, band, channel]."""
    size = band * channel
    conv = nn.Conv2d(channel, channel, (window, 1), padding=(window // 2, 0))
    up, down = nn.Linear(size, size), nn.Linear(size, size)
    norm1, norm2 = nn.LayerNorm([band, channel]), nn.LayerNorm([band, channel])
    for module in [conv, up, down, norm1, norm2]:
        randomise(module)
    x = leaf(batch, time, band, channel)

    def run():
        y = norm1(x + torch.relu(conv(x.permute(0, 3, 1, 2))).permute(0, 2, 3, 1))
        return norm2(y + down(torch.relu(up(y.flatten(2)))).reshape(y.shape))
    axes = ["batch", "time", "band", "channel"]
    parts = {"conv.weight": (conv.weight, ["channel", "out", "time_k"], lambda w: w[..., 0].transpose(0, 1)),
             "conv.bias": (conv.bias, ["out"], same)}
    parts.update(under("up", linear(up, ["band", "channel"], ["hidden"], [band, channel])))
    parts.update(under("down", linear(down, ["hidden"], ["band", "channel"], None, [band, channel])))
    parts.update(under("convNorm", affine(norm1, ["band", "channel"])))
    parts.update(under("norm", affine(norm2, ["band", "channel"])))
    case("tds" + end, run, axes, parts, {"x": (x, axes, same)})


def graph(end, batch, nodes, words, slots, heads, outs):
    """The layer of the graph attention network among the models."""
    layer = randomise(gat.GraphAttention(words, heads, outs))
    x, near = leaf(batch, nodes, words), torch.randint(nodes, (batch, nodes, slots))
    degree = torch.randint(1, slots + 1, (batch, nodes))
    both = ["head", "feature"]
    parts = {"project.weight": (layer.project.weight, ["word"] + both, lambda w: w.t().reshape(words, heads, outs))}
    for path in ["own", "other", "bias"]:
        parts[path] = (getattr(layer, path), both, same)
    case("graph" + end, lambda: layer(x, near, degree), ["batch", "node"] + both, parts,
         {"x": (x, ["batch", "node", "word"], same), "number": (near, ["batch", "node", "slot"], same),
          "count": (degree, ["batch", "node"], same)})


def layers():
    """Each layer with ordinary sizes, with sizes of 1 (where the layer allows it), and with primes."""
    convolutions()
    for end, images in [("", (2, 3, 7, 5)), ("-ones", (1, 1, 1, 1)), ("-primes", (3, 5, 11, 13))]:
        planar(end, *images)
    norms("", (3, 4, 5), (2, 6, 3, 5), 3)
    norms("-ones", (1, 1, 1), (1, 1, 1, 2), 1)
    norms("-primes", (3, 5, 7), (2, 5, 7, 11), 5)
    linears("", 4, (6, 8), (4, 3), (13, [3, 7], 2.0))
    linears("-ones", 1, (1, 1), (1, 1), (2, [1], 1.0))
    linears("-primes", 5, (3, 7), (5, 2), (17, [5, 7], 2.0))
    activations("", 2, 6)
    activations("-ones", 1, 1)
    activations("-primes", 5, 7)
    embedding("", (3, 5), 7, 4, 2)
    embedding("-ones", (1, 1), 1, 1, None)
    embedding("-primes", (3, 7), 11, 5, 2)
    recurrents("", (3, 5, 4), 3, [5, 1, 3])
    recurrents("-ones", (1, 1, 1), 1, [1])
    recurrents("-primes", (5, 7, 3), 5, [7, 1, 5, 2, 3])
    attentions("", (3, 5, 6), 2, [5, 1, 3], 7, (2, 3, 5, 4))
    attentions("-ones", (1, 1, 1), 1, [1], 1, (1, 1, 1, 2))
    attentions("-primes", (3, 5, 7), 7, [5, 1, 3], 11, (3, 5, 7, 2))
    transformers("", (3, 5, 6), (2, 3), 11, 7, [7, 2, 1])
    transformers("-ones", (1, 1, 1), (1, 1), 1, 1, [1])
    transformers("-primes", (3, 5, 7), (1, 7), 13, 11, [11, 2, 1])
    conformer("", (2, 7, 6), 2, 5, 3)
    conformer("-ones", (1, 2, 1), 1, 1, 1)
    conformer("-primes", (3, 11, 5), 5, 7, 3)
    tds("", 2, 7, 4, 3, 5)
    tds("-ones", 1, 1, 1, 1, 1)
    tds("-primes", 3, 11, 5, 2, 5)
    graph("", 2, 6, 4, 3, 2, 3)
    graph("-ones", 1, 1, 1, 1, 1, 1)
    graph("-primes", 3, 7, 5, 3, 2, 5)
    masked_attentions("", (2, 5, 8), 4, 2, 7)
    masked_attentions("-ones", (1, 1, 1), 1, 1, 1)
    masked_attentions("-primes", (3, 5, 9), 3, 1, 7)


torch.manual_seed(1)
layers()
finish("layers.safetensors")


def loss(name, module, x, wanted, axes=("batch", "class"), target_axes=("batch", "class")):
    """x, target, the loss of `module`, and its gradient with respect to x."""
    value = module(x, wanted)
    put(name + ".x", x, list(axes))
    put(name + ".target", wanted, list(target_axes))
    put(name + ".loss", value, [])
    put(name + ".gradient", torch.autograd.grad(value, x)[0], list(axes))


def spread(x, label, margin=0.6):
    """Matrix capsules: PyTorch has no such loss; only its gradients are PyTorch's."""
    right = torch.nn.functional.one_hot(label, x.shape[1]).bool()
    below = (margin - (x[right][:, None] - x)).clamp(min=0) ** 2
    return below.masked_fill(right, 0).sum(1).mean()


def capsules(x, label):
    right = torch.nn.functional.one_hot(label, x.shape[1])
    return (right * (0.9 - x).clamp(min=0) ** 2 + 0.5 * (1 - right) * (x - 0.1).clamp(min=0) ** 2).sum(1).mean()


def losses():
    for size, classes in [(1, 1), (7, 5)]:
        def x():
            return leaf(size, classes)

        def case(name, module, x, wanted, labels=False):
            loss("%s.%d" % (name, size), module, x, wanted, target_axes=["batch"] if labels else ["batch", "class"])
        y, p = torch.randn(size, classes), torch.rand(size, classes)
        case("mse", nn.MSELoss(), x(), y)
        case("l1", nn.L1Loss(), x(), y)
        case("huber", nn.HuberLoss(delta=0.7), x(), y)
        case("bce", nn.BCELoss(), torch.rand(size, classes).mul(0.9).add(0.05).requires_grad_(), p)
        case("bceLogits", nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.5)), x(), p)
        case("kl", nn.KLDivLoss(reduction="mean"), x(), p)
        case("probabilities", nn.CrossEntropyLoss(label_smoothing=0.2), x(), p.softmax(1))
        label = torch.randint(0, classes, (size,))
        case("entropy", nn.CrossEntropyLoss(label_smoothing=0.1), x(), label, True)
        case("hinge", nn.MultiMarginLoss(p=2, margin=0.8), x(), label, True)
        case("spread", spread, x(), label, True)
        case("margin", capsules, x(), label, True)
    for end, classes, label in [(".1", 1, [0]), (".7", 5, [0, 3, 4, 1, 3, 2, 4])]:
        weight = torch.rand(classes)
        put("entropyWeighted%s.weight" % end, weight, ["class"])
        loss("entropyWeighted" + end, nn.CrossEntropyLoss(weight, ignore_index=3, label_smoothing=0.1),
             leaf(len(label), classes), torch.tensor(label), target_axes=["batch"])
    # A mean over samples of losses divided by the lengths of their labels.
    for end, steps, classes, times, label, lengths in [(".1", 1, 2, [1], [[0]], [1]),
                                                       (".2", 11, 5, [11, 7], [[1, 1, 0], [4, 0, 3]], [2, 3])]:
        times, label, lengths = torch.tensor(times), torch.tensor(label), torch.tensor(lengths)
        put("ctc%s.times" % end, times, ["batch"])
        put("ctc%s.lengths" % end, lengths, ["batch"])
        ctc = nn.CTCLoss(blank=classes // 2)
        x = leaf(steps, len(times), classes)
        loss("ctc" + end, lambda x, label: ctc(x.log_softmax(2), label, times, lengths), x, label,
             ["time", "batch", "class"], ["batch", "position"])


class NovoGrad(torch.optim.Optimizer):
    """Ginsburg et al., 2019. PyTorch has neither this one nor LAMB."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})
        self.m, self.v = 0, None

    def step(self):
        p = self.param_groups[0]["params"][0]
        square = (p.grad ** 2).sum()
        self.v = square if self.v is None else 0.98 * self.v + 0.02 * square
        self.m = 0.95 * self.m + p.grad / (self.v.sqrt() + 1e-8) + 0.1 * p.detach()
        p.data -= self.param_groups[0]["lr"] * self.m


class Lamb(torch.optim.Optimizer):
    """You et al., 2020."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})
        self.m, self.v, self.t = 0, 0, 0

    def step(self):
        p = self.param_groups[0]["params"][0]
        self.t += 1
        self.m, self.v = 0.9 * self.m + 0.1 * p.grad, 0.999 * self.v + 0.001 * p.grad ** 2
        update = self.m / (1 - 0.9 ** self.t) / ((self.v / (1 - 0.999 ** self.t)).sqrt() + 1e-6) + 0.1 * p.detach()
        p.data -= self.param_groups[0]["lr"] * p.detach().norm() / update.norm() * update


def optimisers():
    """Ten steps that minimise sum(curvature * p^2) / 2."""
    optim = torch.optim
    for size in [1, 7]:
        start, curvature = torch.randn(size), torch.rand(size) + 0.1
        put("%d.start" % size, start, ["n"])
        put("%d.curvature" % size, curvature, ["n"])
        for name, make in {
            "plain": lambda p: optim.SGD(p, 0.1),
            "sgd": lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.2, weight_decay=0.1),
            "nesterov": lambda p: optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
            "adam": lambda p: optim.Adam(p, 0.1, weight_decay=0.1),
            "amsgrad": lambda p: optim.Adam(p, 0.1, amsgrad=True),
            "adamw": lambda p: optim.AdamW(p, 0.1, weight_decay=0.1),
            "rmsprop": lambda p: optim.RMSprop(p, 0.01, momentum=0.5, centered=True, weight_decay=0.1),
            "adagrad": lambda p: optim.Adagrad(p, 0.1, lr_decay=0.1, weight_decay=0.1),
            "adadelta": lambda p: optim.Adadelta(p, 1.0, weight_decay=0.1),
            "novograd": lambda p: NovoGrad(p, 0.1),
            "lamb": lambda p: Lamb(p, 0.1),
        }.items():
            p = nn.Parameter(start.clone())
            optimiser = make([p])
            average = optim.swa_utils.AveragedModel(nn.ParameterList([p]),
                                                    multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.8))
            average.update_parameters(nn.ParameterList([p]))  # the first call copies
            for _ in range(10):
                p.grad = curvature * p.detach()
                optimiser.step()
                average.update_parameters(nn.ParameterList([p]))
            put("%d.end.%s" % (size, name), p, ["n"])
            if name == "adam":
                put("%d.average" % size, average.module[0], ["n"])


def rates():
    """The rates of 20 steps."""
    def run(name, make):
        optimiser = torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.5)
        schedule, found = make(optimiser), []
        for _ in range(20):
            found.append(optimiser.param_groups[0]["lr"])
            optimiser.step()
            schedule.step()
        put("rates." + name, torch.tensor(found), ["n"])
    of = torch.optim.lr_scheduler
    run("step", lambda o: of.StepLR(o, 7, 0.3))
    run("steps", lambda o: of.MultiStepLR(o, [2, 3, 11], 0.3))
    run("cosine", lambda o: of.CosineAnnealingLR(o, 19, 0.1))
    run("linear", lambda o: of.LinearLR(o, 1.0, 0.2, 13))


def clipping():
    gradient = [nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(1))]
    for each in gradient:
        each.grad = torch.randn(each.shape) * 3
    for i, each in enumerate(gradient):
        put("clip.%d" % i, each.grad.clone(), ["n"])
    put("clip.length", nn.utils.clip_grad_norm_(gradient, 2.0), [])
    for i, each in enumerate(gradient):
        put("clip.%d.end" % i, each.grad.clone(), ["n"])
    nn.utils.clip_grad_value_(gradient, 0.7)
    for i, each in enumerate(gradient):
        put("clip.%d.byValue" % i, each.grad, ["n"])


torch.manual_seed(2)
losses()
optimisers()
rates()
clipping()
finish("training.safetensors")
