"""Files of arrays, good and bad, for the cases."""
import json
import struct
import sys
import zipfile

CODES = {"f4": "f", "i4": "i", "i8": "q"}
NAMES = {"f4": "F32", "i4": "I32"}


def npy_bytes(dtype, shape, values):
    """The bytes of an .npy file; values is None for a dtype that cannot be loaded."""
    header = f"{{'descr': '{'|' if dtype == 'O' else '<'}{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = b"pickle" if values is None else pack(dtype, values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def pack(dtype, values):
    convert = float if dtype == "f4" else int
    return struct.pack(f"<{len(values)}{CODES[dtype]}", *map(convert, values))


def size(shape):
    count = 1
    for dim in shape:
        count *= dim
    return count


def safetensors(path, cut=0, **tensors):
    """tensors: name=(dtype, dims...), all ones; the last `cut` bytes are left out."""
    header, data = {}, b""
    for name, (dtype, *shape) in tensors.items():
        values = pack(dtype, [1] * size(shape))
        header[name] = {"dtype": NAMES[dtype], "shape": shape,
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    blob = struct.pack("<Q", len(text)) + text + data
    with open(path, "wb") as file:
        file.write(blob[: len(blob) - cut])


def npz(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, blob in members.items():
            archive.writestr(name + ".npy", blob)


def weights():
    """What bad_weights.t is about: weight f32[2, 3] and bias f32[2] are right."""
    weight, bias = ("f4", 2, 3), ("f4", 2)
    safetensors("good.safetensors", weight=weight, bias=bias)
    safetensors("missing.safetensors", weight=weight)
    safetensors("cut.safetensors", cut=4, weight=weight, bias=bias)
    safetensors("shape.safetensors", weight=("f4", 3, 2), bias=bias)
    safetensors("dtype.safetensors", weight=weight, bias=("i4", 2))
    safetensors("unused.safetensors", weight=weight, bias=bias, extra=("f4", 1), more=("f4", 1))
    good = npy_bytes("f4", (2, 3), [1] * 6)
    npz("good.npz", weight=good, bias=npy_bytes("f4", (2,), [1, 1]))
    npz("objects.npz", weight=npy_bytes("O", (2, 3), None), bias=npy_bytes("f4", (2,), [1, 1]))


if __name__ == "__main__":
    if sys.argv[1] == "npy":
        path, dtype, *values = sys.argv[2:]
        with open(path, "wb") as file:
            file.write(npy_bytes(dtype, (len(values),), values))
    else:
        weights()
