"""inputs.py FOLDER: the weights of model.g and an array for it, of numbers that differ."""
import json
import os
import struct
import sys

SHAPES = {"fc1.weight": (16, 8), "fc1.bias": (16,), "fc2.weight": (4, 16), "fc2.bias": (4,)}


def count(shape):
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


def numbers(size, step):
    return struct.pack(f"<{size}f", *((i * step % 41) / 16 - 1.25 for i in range(size)))


def write(name, data):
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)


header, data = {}, b""
for i, (name, shape) in enumerate(SHAPES.items()):
    values = numbers(count(shape), 7 + 2 * i)
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header).encode()
write("weights.safetensors", struct.pack("<Q", len(text)) + text + data)

text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (6, 8), }".ljust(117) + b"\n"
write("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + numbers(48, 11))
