"""Arrays as a safetensors file, which is how the values of parameters reach the compiler."""
import json
from typing import Any, Mapping, Tuple

import numpy as np

from . import dtypes
from .dtypes import DType
from .errors import InvalidError

_NAMES = {"bool": "BOOL", "f8e4m3": "F8_E4M3", "f8e5m2": "F8_E5M2"}


def write(path: str, weights: Mapping[str, Tuple[np.ndarray, DType]]) -> None:
    header: dict = {}
    parts = []
    at = 0
    for name, (array, dtype) in weights.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": _NAMES.get(dtype.name, dtype.name.upper()), "shape": list(array.shape),
                        "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(parts))


def typed(value: Any, dtype: Any = None) -> Tuple[np.ndarray, DType]:
    """The array of a value and its element type: that of the array unless `dtype` says otherwise.
    Python's own floats are f32, as in the language."""
    if dtype is None:
        array = np.asarray(value)
        if array.dtype == np.float64 and not hasattr(value, "dtype"):
            array = array.astype(np.float32)
        return array, dtypes.of(array.dtype)
    wanted = dtypes.of(dtype)
    array = np.asarray(value) if hasattr(value, "dtype") else np.asarray(value, wanted.numpy)
    if not dtypes.holds(wanted, array.dtype):
        raise InvalidError(f"the dtype is {array.dtype}, not {wanted} ({wanted.numpy})")
    return array, wanted
