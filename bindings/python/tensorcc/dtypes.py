"""Element types, and the numpy dtypes that hold them.

numpy has no bf16 and no 8-bit floats: where ml_dtypes is installed its types are used, else arrays
of u16 and u8 hold the bits. 4-bit integers are i8 and u8 arrays of one value an element; they alone
are copied, into the packed form that models read.
"""
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Dict, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidError

try:
    _ml_dtypes: Any = import_module("ml_dtypes")
except ImportError:
    _ml_dtypes = None

Array = NDArray[Any]


@dataclass(frozen=True)
class DType:
    name: str
    code: int  # of the C API
    bits: int

    @property
    def numpy(self) -> "np.dtype[Any]":
        """The dtype of arrays that hold it."""
        return _numpy_dtype(self.name)

    @property
    def is_packed(self) -> bool:
        return self.bits == 4

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


_ROWS = (("bool", 8), ("i4", 4), ("u4", 4), ("i8", 8), ("u8", 8), ("i16", 16), ("u16", 16), ("i32", 32),
         ("u32", 32), ("i64", 64), ("u64", 64), ("f8e4m3", 8), ("f8e5m2", 8), ("f16", 16), ("bf16", 16),
         ("f32", 32), ("f64", 64))
ALL = tuple(DType(name, code, bits) for code, (name, bits) in enumerate(_ROWS))
BY_NAME: Dict[str, DType] = {dtype.name: dtype for dtype in ALL}
(bool_, i4, u4, i8, u8, i16, u16, i32, u32, i64, u64, f8e4m3, f8e5m2, f16, bf16, f32, f64) = ALL

# Where numpy has no such dtype: the name in ml_dtypes, and the dtype of its bits.
_FOREIGN = {"bf16": ("bfloat16", "u2"), "f8e4m3": ("float8_e4m3fn", "u1"), "f8e5m2": ("float8_e5m2", "u1")}
_PLAIN = {"bool": "?", "i4": "i1", "u4": "u1"}


@lru_cache(maxsize=None)
def _numpy_dtype(name: str) -> "np.dtype[Any]":
    if name in _FOREIGN:
        foreign, bits = _FOREIGN[name]
        return np.dtype(getattr(_ml_dtypes, foreign) if _ml_dtypes else bits)
    return np.dtype(_PLAIN.get(name) or name[0] + str(BY_NAME[name].bits // 8))


def holds(dtype: DType, array: "np.dtype[Any]") -> bool:
    """Whether arrays of that numpy dtype are elements of `dtype` as they are."""
    if array == dtype.numpy:
        return True
    return dtype.name in _FOREIGN and array == np.dtype(_FOREIGN[dtype.name][1])


def of(dtype: Any) -> DType:
    """The element type that a name ("f32"), a DType or a numpy dtype means."""
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, str) and dtype in BY_NAME:
        return BY_NAME[dtype]
    return _of_numpy(dtype)


def _of_numpy(dtype: Any) -> DType:
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        raise InvalidError(f"there is no dtype {dtype!r}") from None
    for candidate in ALL:
        if not candidate.is_packed and candidate.numpy == wanted:
            return candidate
    raise InvalidError(f"there is no dtype {wanted} in tensorcc")


DTypeLike = Union[DType, str, "np.dtype[Any]", type]


def pack(array: Array) -> Array:
    """4-bit values, one an element, to bytes: low nibble first, along the last axis of the whole."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & 15
    if flat.size % 2:
        flat = np.append(flat, np.uint8(0))
    return flat[0::2] | (flat[1::2] << 4)


def unpack(packed: Array, dtype: DType, shape: Tuple[int, ...]) -> Array:
    flat = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)[:int(np.prod(shape))]
    if dtype.name == "i4":
        flat = ((flat ^ 8).astype(np.int8) - 8).astype(np.int8)
    return flat.reshape(shape)
