# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchanges tensors between a twin and its Heddle model: files, and views by Heddle's paths and names.

A twin is a file of this folder that implements a model of models/zoo in PyTorch. It has

    build(size)              the module; size is "tiny", "small" or "full"
    loss(module, batch)      (mean loss, {measure: its mean}) of a batch, {field: tensor}
    example(size, count)     a batch of random samples that needs no files
    FIELDS                   {field: names of its axes}
    NAMES                    [path in Heddle, name in PyTorch, [its axes by Heddle's names]], of parameters and of running
                             moments ("moments.PATH.mean", "moments.PATH.variance")
    SEEN                     [path in Heddle, name of a module, [axes of its output]], of the outputs that Heddle's network
                             passes to nn::Mode::seen; a fourth element is the index in an output that is a tuple
    SIZES(size)              {name: size}, of names that share an axis (may be missing if none does); {path: {name: size}}
                             if they differ for a tensor

Paths and names may have stars, each of which stands for the same text in both; the first entry that matches a path is
used. An axis may hold several names, "head feature", of which the last varies fastest, or one of several equal parts,
"gate=2 hidden". These are the rules of heddle::nn::TensorSource (heddle/nn/Checkpoint.h).
"""
import ctypes
import json
import math
import re
import struct

import torch

TYPES = {
    torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.uint8: "U8", torch.bool: "BOOL"
}


def write(path, arrays, notes=None):
    """Writes {name: (tensor, names of its axes)} and {note: text} as safetensors; the axes as heddle/io/Safetensors.h."""
    header, values, end = {"__metadata__": dict(notes or {})}, [], 0
    for name, (value, axes) in arrays.items():
        value = value.detach().cpu().contiguous()
        assert value.dim() == len(axes), (name, tuple(value.shape), axes)
        values.append(value)
        header[name] = {"dtype": TYPES[value.dtype], "shape": list(value.shape), "data_offsets": [end, end + value.nbytes]}
        end += value.nbytes
        if axes:
            header["__metadata__"]["names:" + name] = ",".join(axes)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in values:  # bytes(storage) would take a minute for 100 MB
            file.write(ctypes.string_at(value.data_ptr(), value.nbytes))


def read(path):
    """Reads what `write` wrote: the arrays and the notes."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    notes = header.pop("__metadata__", {})
    types = {word: dtype for dtype, word in TYPES.items()}
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        value = torch.frombuffer(bytearray(data[begin:end]), dtype=types[entry["dtype"]]) if end > begin else torch.empty(0)
        axes = notes.pop("names:" + name, "")
        arrays[name] = (value.reshape(entry["shape"]), axes.split(",") if axes else [])
    return arrays, notes


def translated(pattern, text, other):
    """Replaces the stars of `other` by what those of `pattern` match in `text`; None without a match."""
    found = re.fullmatch("(.*?)".join(map(re.escape, pattern.split("*"))), text, re.DOTALL)
    if not found:
        return None
    texts = iter(found.groups())
    return "".join(next(texts, "") if part == "*" else part for part in re.split(r"(\*)", other))


def parted(tensor, axes, sizes):
    """A view of a tensor whose axes are single names, and these names."""
    shape, chosen, names = [], [], []
    assert len(axes) == tensor.dim(), (tuple(tensor.shape), axes)
    for axis, whole in zip(axes, tensor.shape):
        words = axis.split()
        known = [sizes.get(word.split("=")[0], -1) if len(words) > 1 else whole for word in words]
        rest = whole // math.prod(size for size in known if size >= 0)
        assert known.count(-1) <= 1, "SIZES lacks a name of the axis '%s'" % axis
        known = [rest if size < 0 else size for size in known]
        assert math.prod(known) == whole, "the axis '%s' of size %d does not fit %s" % (axis, whole, known)
        shape += known
        chosen += [int(word.split("=")[1]) if "=" in word else None for word in words]
        names += words
    tensor = tensor.view(shape)
    for i in reversed(range(len(names))):
        if chosen[i] is not None:
            tensor = tensor.select(i, chosen[i])
            del names[i]
    return tensor, names


def fitting(twin, name):
    """The paths and axes of a PyTorch tensor: several paths if several of Heddle's tensors are parts of it."""
    for path, pattern, axes in twin.NAMES:
        ours = translated(pattern, name, path)
        if ours is None:
            continue
        # The first entry that matches our path is used.
        first = next(entry for entry in twin.NAMES if translated(entry[0], ours, entry[1]) is not None)
        if translated(first[0], ours, first[1]) == name and first[2] == axes:
            yield ours, axes


def views(twin, size, tensors):
    """{path: (view, names of its axes)} for {PyTorch's name: tensor}; a parameter without a path is an error."""
    sizes = twin.SIZES(size) if hasattr(twin, "SIZES") else {}
    result = {}
    for name, tensor in tensors.items():
        found = [(path, parted(tensor, axes, {**sizes, **sizes.get(path, {})})) for path, axes in fitting(twin, name)]
        assert found or not isinstance(tensor, torch.nn.Parameter), "NAMES has no path for '%s'" % name
        result.update(found)
    return result


def copy(twin, size, module, arrays):
    """Copies `arrays`, {path: (tensor, names of its axes)}, to the module's parameters; axes may be in any order."""
    with torch.no_grad():
        for path, (view, axes) in views(twin, size, dict(module.named_parameters())).items():
            value, names = arrays[path]
            view.copy_(value.permute([names.index(axis) for axis in axes]))


def linear(ours, theirs, inputs, outputs):
    """The entries of NAMES for a torch.nn.Linear."""
    return [[ours + ".weight", theirs + ".weight", [outputs, inputs]], [ours + ".bias", theirs + ".bias", [outputs]]]


def norm(ours, theirs, axis="feature"):
    """The entries for a torch.nn.LayerNorm."""
    return [[ours + ".scale", theirs + ".weight", [axis]], [ours + ".shift", theirs + ".bias", [axis]]]


def transformer(ours, theirs):
    """The entries for a torch.nn.TransformerEncoderLayer, for nn::TransformerLayer; SIZES has "head" and "depth"."""
    names = []
    for i, part in enumerate(["query", "key", "value"]):
        axis = "part=%d head depth" % i
        names += [["%s.attention.%s.weight" % (ours, part), theirs + ".self_attn.in_proj_weight", [axis, "feature"]],
                  ["%s.attention.%s.bias" % (ours, part), theirs + ".self_attn.in_proj_bias", [axis]]]
    return (names + linear(ours + ".attention.out", theirs + ".self_attn.out_proj", "head depth", "feature") +
            linear(ours + ".feed.up", theirs + ".linear1", "feature", "hidden") +
            linear(ours + ".feed.down", theirs + ".linear2", "hidden", "feature") +
            norm(ours + ".norms.0", theirs + ".norm1") + norm(ours + ".norms.1", theirs + ".norm2"))


def lstm(ours, theirs, layers, inputs="feature", hidden="hidden"):
    """The entries for a torch.nn.LSTM, for nn::Recurrent; SIZES has "gate", 4."""
    names, gates = [], "gate " + hidden
    for i in range(layers):
        names += [["%s.cells.%d.input" % (ours, i), "%s.weight_ih_l%d" % (theirs, i), [gates, inputs]],
                  ["%s.cells.%d.recurrent" % (ours, i), "%s.weight_hh_l%d" % (theirs, i), [gates, "from"]],
                  ["%s.cells.%d.inputBias" % (ours, i), "%s.bias_ih_l%d" % (theirs, i), [gates]],
                  ["%s.cells.%d.recurrentBias" % (ours, i), "%s.bias_hh_l%d" % (theirs, i), [gates]]]
    return names
