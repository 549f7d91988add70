#!/usr/bin/env python3
"""narrow.py IN.safetensors OUT.safetensors: the f32 tensors of a file as bf16, rounded to nearest even."""
import json
import struct
import sys
from pathlib import Path


def narrowed(data):
    """All numbers at once, as the digits of one: adding half of what is cut off never carries from one finite f32 into
    the next, since their upper bits are not all ones."""
    count = len(data) // 4
    ones = int.from_bytes(b"\1\0\0\0" * count, "little")
    bits = int.from_bytes(data, "little")
    odd = bits >> 16 & ones
    rounded = (bits + ones * 0x7FFF + odd).to_bytes(4 * count, "little")
    out = bytearray(2 * count)
    out[0::2], out[1::2] = rounded[2::4], rounded[3::4]
    return bytes(out)


def main():
    data = Path(sys.argv[1]).read_bytes()
    size, = struct.unpack("<Q", data[:8])
    table, blobs, at = {}, [], 0
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        blobs.append(narrowed(data[8 + size + begin:8 + size + end]))
        table[name] = {"dtype": "BF16", "shape": entry["shape"], "data_offsets": [at, at + len(blobs[-1])]}
        at += len(blobs[-1])
    header = json.dumps(table).encode()
    header += b" " * (-len(header) % 8)
    Path(sys.argv[2]).write_bytes(struct.pack("<Q", len(header)) + header + b"".join(blobs))


if __name__ == "__main__":
    main()
