# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's PyTorch twin (models/zoo/twins) in ONNX, run by a peer of heddle-bench, in a separate process:

    onnx_peer.py infer onnxruntime|openvino NAME SIZE THREADS DTYPE BATCH

PyTorch writes the evaluation of a batch to a file, in a process that then ends, so that the peak memory does not include it.
Prints a line of JSON, then answers as described in bench/peers/Process.h; prints nothing and ends if one of the packages is
missing, if there is no twin, or if ONNX lacks one of its ops.
"""
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import peer

try:
    import numpy
except ImportError:
    sys.exit(0)

warnings.filterwarnings("ignore")
_, how, name, size, threads, dtype, batch, *folder_to_write = sys.argv[1:]
TWINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "zoo", "twins")


def write(folder):
    """Writes the loss and the measures of a batch as model.onnx, and the fields that they depend on as fields.npz."""
    import torch
    sys.path.insert(0, TWINS)
    twin = importlib.import_module(name)
    torch.manual_seed(1)

    class Evaluation(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = twin.build(size).eval()

        def forward(self, *values):
            loss, measures = twin.loss(self.module, dict(zip(fields, values)))
            return loss, *measures.values()

    fields = twin.example(size, int(batch))
    with torch.no_grad():
        torch.onnx.export(Evaluation(), tuple(fields.values()), os.path.join(folder, "model.onnx"), input_names=list(fields), dynamo=True,
                          verbose=False)
    numpy.savez(os.path.join(folder, "fields.npz"), **{field: value.numpy() for field, value in fields.items()})


def written(folder):
    """A new process: after a fork, locks held by a library's threads would never be released."""
    command = [sys.executable, *sys.argv, folder]
    quiet = subprocess.DEVNULL  # the exporter prints its progress
    return subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet).returncode == 0


def onnxruntime(path, fields):
    import onnxruntime as library
    options = library.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = int(threads), 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.force_spinning_stop", "1")  # else it slows down the next system
    session = library.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    known = {each.name for each in session.get_inputs()}
    fields = {field: value for field, value in fields.items() if field in known}
    return library.__version__, lambda: session.run(None, fields)


def openvino(path, fields):
    import openvino as library
    precision = {"INFERENCE_PRECISION_HINT": dtype, "INFERENCE_NUM_THREADS": int(threads), "PERFORMANCE_HINT": "LATENCY"}
    model = library.Core().compile_model(path, "CPU", precision)
    known = {each.any_name for each in model.inputs}
    request = model.create_infer_request()
    request.set_tensors({field: library.Tensor(value) for field, value in fields.items() if field in known})
    return library.__version__.split("-")[0], request.infer


def main():
    try:
        importlib.import_module(how)
    except ImportError:
        sys.exit(0)
    if how == "onnxruntime" and dtype != "f32":
        sys.exit(0)  # its kernels for CPUs have no bf16
    with tempfile.TemporaryDirectory() as folder:
        if not written(folder):
            sys.exit(0)
        fields = dict(numpy.load(os.path.join(folder, "fields.npz")))
        begin = time.perf_counter()
        try:
            version, run = {"onnxruntime": onnxruntime, "openvino": openvino}[how](os.path.join(folder, "model.onnx"), fields)
            run()
        except Exception:  # an op that the library lacks
            sys.exit(0)
        line = {"system": how + "-" + version, "compile_ms": 1e3 * (time.perf_counter() - begin)}
        peer.answer(run, json.dumps(line))


if folder_to_write:
    write(*folder_to_write)
else:
    main()
