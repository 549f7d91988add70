#!/usr/bin/env python3
"""compare.py FOLDER THREADS [MODEL...]: runs the models of FOLDER (see make.py) by tcc, onnxruntime and torch.compile.

One process is one number of threads, since torch.compile writes it into its code. For each model and batch the
outputs are compared first; then the contestants take turns, each turn a few runs in a row, and the median time of a run
is printed with the ratio of the better peer's to tcc's, and the goal. PEERS names the peers: both without it."""
import ctypes as c
import os
import statistics
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from make import load_net
from nets import MODELS
from tensorcc import capi, dtypes

TURN_SECONDS, ROUNDS, SETTLE_SECONDS = 0.05, int(os.environ.get("ROUNDS", "9")), 0.06
MAX_DIFFERENCE = 2e-4  # of the largest value
CASES = {  # what follows the batch in the sizes of a model's inputs; what the better peer's time over tcc's shall be
    "mlp": ([(1,), (8,)], 3.0),
    "lstm": ([(1,), (8,)], 1.5),
    "resnet50": ([(1,), (8,)], 1.3),
    "minilm": ([(1, 16), (1, 128), (8, 16), (8, 128)], 2.0),
}


class Tcc:
    """A model.so through the C interface, with as little of Python in between as can be."""

    def __init__(self, path, threads):
        library = c.CDLL(str(path))
        get = library.tcc_model_get_api
        get.restype, get.argtypes = c.POINTER(capi.ModelApi), [c.c_uint32]
        self.api = get(capi.MODEL_API_VERSION).contents
        model, session, message = capi.Pointer(), capi.Pointer(), c.create_string_buffer(256)
        options = capi.OpenOptions(threads=threads)
        self.check(self.api.open(c.byref(options), c.byref(model), message, 256), message.value)
        self.check(self.api.session_new(model, c.byref(session)), b"no session")
        self.session, self.library, self.run_function = session, library, self.api.run

    @staticmethod
    def check(status, message):
        if status:
            raise SystemExit(f"tcc: {message.decode()}")

    def bind(self, arrays):
        """Takes inputs, makes memory for the one output, which it returns, and runs once. `run` runs again."""
        self.inputs = (capi.Tensor * len(arrays))(*map(self.tensor, arrays))
        self.arrays, dims = arrays, (c.c_int64 * capi.MAX_RANK)()
        self.check(self.api.output_dims(self.session, self.inputs, len(arrays), 0, dims), b"output_dims")
        self.output = np.empty([n for n in dims if n], "f4")
        self.outputs = (capi.Tensor * 1)(self.tensor(self.output))
        self.run = partial(self.run_function, self.session, self.inputs, len(arrays), self.outputs, 1)
        self.check(self.run(), self.api.session_message(self.session))
        return self.output

    @staticmethod
    def tensor(array):
        dims = (c.c_int64 * capi.MAX_RANK)(*array.shape)
        dtype = {"float32": dtypes.f32, "int64": dtypes.i64}[array.dtype.name].code
        return capi.Tensor(dtype=dtype, rank=array.ndim, data=array.ctypes.data, dims=dims)


def onnxruntime_runner(path, arrays, names, sizes, threads):
    """With the sizes told beforehand, and inputs and outputs in place: the most it can do."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    for name, size in zip("NT", sizes):
        options.add_free_dimension_override_by_name(name, size)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in zip(names, arrays):
        binding.bind_cpu_input(name, array)
    binding.bind_output(session.get_outputs()[0].name, "cpu")

    def run():
        session.run_with_iobinding(binding)
    run()
    return run, binding.copy_outputs_to_cpu()[0]


def torch_runner(net, tensors):
    compiled = torch.compile(net, dynamic=False, options={"freezing": True})

    def run():
        run.result = compiled(*tensors)
    with torch.inference_mode():
        run()
        run()
    return run, run.result.numpy()


def make_peer(label, folder, name, tensors, sizes, threads):
    """How it runs, and what it gave."""
    if label == "torch.compile":
        return torch_runner(load_net(name, folder), list(tensors.values()))
    arrays = [tensor.numpy() for tensor in tensors.values()]
    return onnxruntime_runner(folder / f"{name}.onnx", arrays, tensors, sizes, threads)


def timed(run, count):
    begin = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - begin) / count


def medians(runners):
    """The median time of a run of each: they take turns, with a pause in which the last one's threads go to
    sleep, which those of onnxruntime do late."""
    counts = [max(1, int(TURN_SECONDS / max(min(timed(run, 2) for _ in range(2)), 1e-7))) for run in runners]
    times = [[] for _ in runners]
    for _ in range(ROUNDS):
        for run, count, mine in zip(runners, counts, times):
            time.sleep(SETTLE_SECONDS)
            run()
            mine.append(timed(run, count))
    return [statistics.median(mine) for mine in times]


def compare(folder, name, sizes, threads, goal):
    tensors = MODELS[name].inputs(*sizes)
    arrays = [tensor.numpy() for tensor in tensors.values()]
    tcc = Tcc(folder / f"{name}.so", threads)
    result = tcc.bind(arrays)
    runners = {"tcc": tcc.run}
    for label in os.environ.get("PEERS", "onnxruntime torch.compile").split():
        runners[label], other = make_peer(label, folder, name, tensors, sizes, threads)
        difference = float(np.abs(result - other).max() / np.abs(other).max())
        if not difference < MAX_DIFFERENCE:
            raise SystemExit(f"{name} {sizes}: {label} and tcc differ by {difference:.2g} of the largest value")
    with torch.inference_mode():
        times = medians(runners.values())
    row = f"{name:9} {'×'.join(map(str, sizes)):>6} {threads:2}  "
    row += "  ".join(f"{label} {1e6 * t:9.1f} us" for label, t in zip(runners, times))
    if len(times) > 1:
        ratio = min(times[1:]) / times[0]
        row += f"  better peer / tcc {ratio:5.2f}  at least {goal}: {'met' if ratio >= goal else 'MISSED'}"
    print(row, flush=True)


def main():
    folder, threads, names = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or list(CASES)
    torch.set_num_threads(threads)
    print(f"onnxruntime {onnxruntime.__version__}, torch {torch.__version__}, numpy {np.__version__}")
    for name in names:
        cases, goal = CASES[name]
        for sizes in cases:
            compare(folder, name, sizes, threads, goal)


if __name__ == "__main__":
    main()
