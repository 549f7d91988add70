#!/usr/bin/env python3
"""make.py FOLDER [WEIGHTS.safetensors]: writes what the contestants run into FOLDER: weights of a fixed seed, for tcc
and torch (NAME.safetensors), and the whole model for onnxruntime (NAME.onnx). MiniLM has its real weights, where they
are given."""
import json
import struct
import sys
import warnings
from pathlib import Path

import torch

from nets import MODELS

SEED = 1


def save_safetensors(path, tensors):
    """An 8-byte length, a JSON table, then the bytes of all tensors."""
    table, blobs, at = {}, [], 0
    for name, tensor in tensors.items():
        data = tensor.detach().contiguous().numpy()
        table[name] = {"dtype": "F32", "shape": list(data.shape), "data_offsets": [at, at + data.nbytes]}
        blobs.append(data)
        at += data.nbytes
    header = json.dumps(table).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for blob in blobs:
            file.write(blob.tobytes())


def load_safetensors(path):
    data = Path(path).read_bytes()
    size, = struct.unpack("<Q", data[:8])
    types = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            flat = torch.frombuffer(bytearray(data[8 + size + begin:8 + size + end]), dtype=types[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def randomise_norms(net):
    """Statistics as training leaves them, so that a batch norm is no identity."""
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.0)
            torch.nn.init.uniform_(module.bias, -0.2, 0.2)
            torch.nn.init.uniform_(module.running_mean, -0.5, 0.5)
            torch.nn.init.uniform_(module.running_var, 0.5, 2.0)


def new_net(name, weights=None):
    torch.manual_seed(SEED)
    net = MODELS[name].net().eval()
    randomise_norms(net)
    if name == "minilm" and weights:
        net.load_state_dict(load_safetensors(weights), strict=False)
    return net


def load_net(name, folder):
    """The net with the weights that `main` wrote."""
    net = MODELS[name].net().eval()
    net.load_state_dict(load_safetensors(Path(folder) / f"{name}.safetensors"), strict=False)
    return net


def export(net, model, path):
    inputs = model.inputs(2)
    batch = torch.export.Dim("N", min=1, max=64)
    shapes = {key: {0: batch, **{axis: torch.export.Dim("T", min=2, max=512) for axis in model.varies}}
              for key in inputs}
    torch.onnx.export(net, tuple(inputs.values()), path, dynamo=True, external_data=False, verbose=False,
                      input_names=list(inputs), dynamic_shapes=shapes)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    weights = sys.argv[2] if len(sys.argv) > 2 else None
    warnings.filterwarnings("ignore")
    for name, model in MODELS.items():
        net = new_net(name, weights)
        tensors = {key: value for key, value in net.state_dict().items() if value.dtype == torch.float32}
        save_safetensors(folder / f"{name}.safetensors", tensors)
        with torch.no_grad():
            export(net, model, folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
