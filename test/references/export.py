#!/usr/bin/env python3
"""Computes the reference values of test/unit/nn with PyTorch (tried with 2.15):

    python3 test/references/export.py            # writes the files beside this one

layers.safetensors: each case is a few tensors: CASE.layer.PATH (parameters by their paths in the layer), CASE.input.NAME,
CASE.output, CASE.cotangent, and CASE.gradient.layer.PATH, CASE.gradient.input.NAME: those of sum(output * cotangent).

training.safetensors: losses (CASE.x, CASE.target, CASE.loss, CASE.gradient), and parameters before and after ten steps of
each optimiser (SIZE.start, SIZE.curvature, SIZE.end.CASE).

Axes have names, in the metadata that heddle::io::readSafetensors reads. Tests read the files without Python.
"""
import json
import math
import os
import struct

import torch
from torch import nn

torch.manual_seed(1)
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
    """PyTorch starts many parameters at 0 or 1, where mistakes do not show."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.5)
    return module


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


def same(value):
    return value


def case(name, output, axes, parameters, inputs):
    """`parameters` and `inputs`: {path: (tensor, axes, view of it that has these axes)}."""
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
def convolution(name, module, places, transposed=False):
    count = module.weight.dim() - 2
    names = ["row", "column", "depth"][:count]
    taps = [each + "_k" for each in names]
    randomise(module)
    x = leaf(2, module.in_channels, *places)
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
    case(name, module(x), ["batch", "channel"] + names, parameters, {"x": (x, ["batch", "channel"] + names, same)})


convolution("conv1d", nn.Conv1d(3, 5, 3, stride=2, padding=1), [11])
convolution("conv2d", nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2), [7, 5])
convolution("conv3d", nn.Conv3d(1, 2, 2, padding=1, bias=False), [2, 3, 1])
convolution("conv-transpose1d", nn.ConvTranspose1d(3, 2, 3, stride=2, padding=1, output_padding=1), [5], True)
convolution("conv-transpose2d", nn.ConvTranspose2d(4, 6, (3, 2), stride=(2, 3), dilation=(2, 1), groups=2), [3, 5], True)

x = leaf(2, 3, 7, 5)
planes = ["batch", "channel", "row", "column"]
for name, module in [("max-pool", nn.MaxPool2d(3, stride=2, padding=1)),
                     ("average-pool", nn.AvgPool2d(3, stride=2, padding=1)),
                     ("average-pool-inside", nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False))]:
    case(name, module(x), planes, {}, {"x": (x, planes, same)})

# Normalisation.
x = leaf(3, 4, 5)
module = randomise(nn.LayerNorm([4, 5]))
case("layer-norm", module(x), ["batch", "time", "feature"], affine(module, ["time", "feature"]),
     {"x": (x, ["batch", "time", "feature"], same)})
module = randomise(nn.RMSNorm([5]))
case("rms-norm", module(x), ["batch", "time", "feature"], affine(module, ["feature"]),
     {"x": (x, ["batch", "time", "feature"], same)})
x = leaf(2, 6, 3, 5)
module = randomise(nn.GroupNorm(3, 6))
case("group-norm", module(x), planes, affine(module, ["channel"]), {"x": (x, planes, same)})
module = randomise(nn.BatchNorm2d(6))
case("batch-norm", module(x), planes, affine(module, ["channel"]), {"x": (x, planes, same)})
put("batch-norm.mean", module.running_mean, ["channel"])
put("batch-norm.variance", module.running_var, ["channel"])
module.eval()
case("batch-norm-evaluation", module(x), planes, affine(module, ["channel"]), {"x": (x, planes, same)})
module = randomise(nn.utils.parametrizations.weight_norm(nn.Linear(5, 3)))
x = leaf(2, 5)
weight = module.parametrizations.weight
case("weight-norm", module(x), ["batch", "out"],
     {"direction": (weight.original1, ["out", "in"], same), "length": (weight.original0, ["out"], lambda g: g[:, 0])},
     {"x": (x, ["batch", "in"], same), "bias": (module.bias, ["out"], same)})

# Activations.
x = leaf(2, 6)
for name, module in [("gelu", nn.GELU()), ("gelu-tanh", nn.GELU(approximate="tanh")), ("silu", nn.SiLU()),
                     ("elu", nn.ELU(0.7)), ("hard-tanh", nn.Hardtanh()), ("relu6", nn.ReLU6()),
                     ("threshold", nn.Threshold(0.3, -2.0)), ("softplus", nn.Softplus()), ("glu", nn.GLU()),
                     ("softmax", nn.Softmax(-1)), ("log-softmax", nn.LogSoftmax(-1))]:
    case(name, module(x * 3), ["batch", "feature"], {}, {"x": (x, ["batch", "feature"], same)})
module = randomise(nn.PReLU(6))
case("prelu", module(x), ["batch", "feature"], {"slope": (module.weight, ["feature"], same)},
     {"x": (x, ["batch", "feature"], same)})

tokens = torch.randint(0, 7, (3, 5))
tokens[0, 0] = 2
module = nn.Embedding(7, 4, padding_idx=2)
case("embedding", module(tokens), ["batch", "time", "feature"], {"table": (module.weight, ["word", "feature"], same)},
     {"tokens": (tokens, ["batch", "time"], same)})


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
    given = x
    if lengths is not None:
        given = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        inputs["lengths"] = (lengths, ["batch"], same)
    output, last = module(given)
    if lengths is not None:
        output, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])
    case(name, output, ["batch", "time", "hidden"], parameters, inputs)
    for word, value in zip("hc", last if isinstance(last, tuple) else [last]):
        put("%s.last.%s" % (name, word), value, ["cell", "batch", "hidden"])


x = leaf(3, 5, 4)
lengths = torch.tensor([5, 1, 3])
recurrent("rnn-tanh", nn.RNN(4, 3, batch_first=True), x)
recurrent("rnn-relu", nn.RNN(4, 3, nonlinearity="relu", num_layers=2, batch_first=True), x)
recurrent("gru", nn.GRU(4, 3, num_layers=2, bidirectional=True, batch_first=True), x, lengths)
recurrent("lstm", nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True), x, lengths)
recurrent("lstm-one", nn.LSTM(1, 1, batch_first=True), leaf(1, 1, 1))


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
x = leaf(3, 5, 6)
module = randomise(nn.MultiheadAttention(6, 2, batch_first=True))
case("attention", module(x, x, x, need_weights=False)[0], sequence, attention(module), {"x": (x, sequence, same)})
case("attention-causal", module(x, x, x, attn_mask=causal(5), need_weights=False)[0], sequence, attention(module),
     {"x": (x, sequence, same)})
case("attention-lengths", module(x, x, x, key_padding_mask=beyond(lengths, 5), need_weights=False)[0], sequence,
     attention(module), {"x": (x, sequence, same), "lengths": (lengths, ["batch"], same)})
memory = leaf(3, 7, 6)
case("attention-cross", module(x, memory, memory, need_weights=False)[0], sequence, attention(module),
     {"x": (x, sequence, same), "memory": (memory, ["batch", "from", "feature"], same)})


def rotary(x, base=10000.0):  # x [batch, head, time, depth]; the pairing of GPT-NeoX
    depth = x.shape[-1]
    rate = base ** (-torch.arange(0, depth, 2).float() / depth)
    angle = torch.arange(x.shape[-2]).float()[:, None] * rate[None, :]
    c, s = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
    half = torch.cat([-x[..., depth // 2:], x[..., :depth // 2]], -1)
    return x * c + half * s


x4 = leaf(2, 3, 5, 4)
case("rotary", rotary(x4), ["batch", "head", "time", "depth"], {}, {"x": (x4, ["batch", "head", "time", "depth"], same)})


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


for name, first, activation in [("encoder", False, "relu"), ("encoder-pre", True, "gelu")]:
    module = randomise(nn.TransformerEncoderLayer(6, 2, 11, dropout=0.0, activation=activation, batch_first=True,
                                                  norm_first=first))
    case(name, module(x, src_mask=causal(5), is_causal=True), sequence, transformer(module), {"x": (x, sequence, same)})
for name, first in [("decoder", False), ("decoder-pre", True)]:
    module = randomise(nn.TransformerDecoderLayer(6, 3, 7, dropout=0.0, batch_first=True, norm_first=first))
    kept = torch.tensor([7, 2, 1])
    case(name, module(x, memory, tgt_mask=causal(5), memory_key_padding_mask=beyond(kept, 7)), sequence,
         transformer(module, True), {"x": (x, sequence, same), "memory": (memory, ["batch", "from", "feature"], same),
                                     "lengths": (kept, ["batch"], same)})

# Adaptive softmax: down is tail[i][0], up is tail[i][1].
module = nn.AdaptiveLogSoftmaxWithLoss(8, 13, [3, 7], div_value=2.0)
randomise(module)
x = leaf(5, 8)
parts = under("head", linear(module.head, ["feature"], ["word"]))
for i, tail in enumerate(module.tail):
    parts.update(under("clusters.%d.down" % i, linear(tail[0], ["feature"], ["inner"])))
    parts.update(under("clusters.%d.up" % i, linear(tail[1], ["inner"], ["word"])))
case("adaptive-softmax", module.log_prob(x), ["batch", "word"], parts, {"x": (x, ["batch", "feature"], same)})


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


module = randomise(Conformer(6, 2, 5, 3))
x = leaf(2, 7, 6)
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
case("conformer", module(x), sequence, parts, {"x": (x, sequence, same)})

# Flashlight's TDS block, with its norms over bands and channels only. x [batch, time, band, channel].
conv, up, down = nn.Conv2d(3, 3, (5, 1), padding=(2, 0)), nn.Linear(12, 12), nn.Linear(12, 12)
norm1, norm2 = nn.LayerNorm([4, 3]), nn.LayerNorm([4, 3])
for module in [conv, up, down, norm1, norm2]:
    randomise(module)
x = leaf(2, 7, 4, 3)
y = norm1(x + torch.relu(conv(x.permute(0, 3, 1, 2))).permute(0, 2, 3, 1))
y = norm2(y + down(torch.relu(up(y.flatten(2)))).reshape(y.shape))
axes = ["batch", "time", "band", "channel"]
parts = {"conv.weight": (conv.weight, ["channel", "out", "time_k"], lambda w: w[..., 0].transpose(0, 1)),
         "conv.bias": (conv.bias, ["out"], same)}
parts.update(under("up", linear(up, ["band", "channel"], ["hidden"], [4, 3])))
parts.update(under("down", linear(down, ["hidden"], ["band", "channel"], None, [4, 3])))
parts.update(under("convNorm", affine(norm1, ["band", "channel"])))
parts.update(under("norm", affine(norm2, ["band", "channel"])))
case("tds", y, axes, parts, {"x": (x, axes, same)})

finish("layers.safetensors")


def loss(name, module, x, wanted, axes=("batch", "class"), target_axes=("batch", "class")):
    """x, target, the loss that `module` gives, and its gradient by x."""
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
    weight = torch.rand(5)
    put("entropyWeighted.weight", weight, ["class"])
    loss("entropyWeighted", nn.CrossEntropyLoss(weight, ignore_index=3, label_smoothing=0.1), leaf(7, 5),
         torch.tensor([0, 3, 4, 1, 3, 2, 4]), target_axes=["batch"])
    # A mean over samples of losses divided by the lengths of their labels.
    for end, steps, times, label, lengths in [(".1", 1, [1], [[0]], [1]), (".2", 11, [11, 7], [[1, 1, 0], [4, 0, 3]], [2, 3])]:
        times, label, lengths = torch.tensor(times), torch.tensor(label), torch.tensor(lengths)
        put("ctc%s.times" % end, times, ["batch"])
        put("ctc%s.lengths" % end, lengths, ["batch"])
        ctc = nn.CTCLoss(blank=2)
        loss("ctc" + end, lambda x, label: ctc(x.log_softmax(2), label, times, lengths), leaf(steps, len(times), 5), label,
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
    """Ten steps down sum(curvature * p^2) / 2."""
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
