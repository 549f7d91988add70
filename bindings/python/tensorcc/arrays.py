"""Arrays as tensors of the C API: views where that can be, and the few cases that are copied.

Copied are 4-bit elements, strides that are no whole number of elements, one element spread over
all axes (strides that are all 0 mean "dense" to the C API), and what is no array: numbers and lists.
"""
import ctypes
from typing import Any, Optional, Tuple

import numpy as np

from . import capi, dlpack, dtypes
from .dtypes import Array, DType, holds, pack, unpack
from .errors import InvalidError

Shape = Tuple[int, ...]


def _as_array(value: Any, dtype: DType, what: str) -> Array:
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return dlpack.view(value, what)
    try:
        return np.asarray(value, dtype=dtype.numpy)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidError(f"{what}: {error}") from None


def typed(value: Any, dtype: Any = None) -> Tuple[Array, DType]:
    """The array of a value and its element type: that of the array unless `dtype` says otherwise.
    Python's own floats are f32, as in the language."""
    wanted = None if dtype is None else dtypes.of(dtype)
    array, found = _found(value, wanted)
    if wanted is not None and not holds(wanted, array.dtype):
        raise InvalidError(f"the dtype is {array.dtype}, not {wanted} ({wanted.numpy})")
    return array, wanted or found or dtypes.of(array.dtype)


def _found(value: Any, wanted: Optional[DType]) -> Tuple[Array, Optional[DType]]:
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value), None
    if hasattr(value, "__dlpack__"):
        return dlpack.typed_view(value, "the tensor")
    try:
        array = np.asarray(value, None if wanted is None else wanted.numpy)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidError(f"{value!r}: {error}") from None
    return array.astype(np.float32) if wanted is None and array.dtype == np.float64 else array, None


def _checked(value: Any, dtype: DType, what: str) -> Array:
    array = _as_array(value, dtype, what)
    if not array.dtype.isnative:
        raise InvalidError(f"{what}: the bytes of {array.dtype} are not in this machine's order")
    if not holds(dtype, array.dtype):
        raise InvalidError(f"{what}: the dtype is {array.dtype}, not {dtype} ({dtype.numpy})")
    if array.ndim > capi.MAX_RANK:
        raise InvalidError(f"{what}: {array.ndim} axes are more than {capi.MAX_RANK}")
    return array


def _element_strides(array: Array) -> Optional[Tuple[int, ...]]:
    """Strides in elements: () for dense arrays, None where they cannot be said."""
    if array.flags.c_contiguous:
        return ()
    size = array.itemsize
    if any(stride % size for stride in array.strides):
        return None
    strides = tuple(stride // size for stride in array.strides)
    return strides if any(strides) else None


def _fill(tensor: capi.Tensor, array: Array, dtype: DType, shape: Shape, strides: Shape) -> None:
    tensor.size = ctypes.sizeof(tensor)
    tensor.dtype, tensor.rank = dtype.code, len(shape)
    tensor.data = array.ctypes.data if array.size else None
    tensor.dims[:len(shape)] = shape
    tensor.strides[:len(strides)] = strides


def bind_input(tensor: capi.Tensor, value: Any, dtype: DType, what: str) -> Array:
    """Describes `value`; the array that is returned must live as long as the tensor is used."""
    array = _checked(value, dtype, what)
    shape, strides = array.shape, _element_strides(array)
    if dtype.is_packed:
        array, strides = pack(array), ()
    elif strides is None:
        array, strides = np.ascontiguousarray(array), ()
    _fill(tensor, array, dtype, shape, strides)
    return array


class OutputBinding:
    """An output: the caller's array or a new one, written in place wherever that can be."""

    def __init__(self, tensor: capi.Tensor, given: Any, dtype: DType, shape: Shape, what: str) -> None:
        self.dtype, self.shape = dtype, shape
        self.array = np.empty(shape, dtype.numpy) if given is None else _writable(given, dtype, shape, what)
        self._written, strides = self.array, _element_strides(self.array)
        if dtype.is_packed:
            self._written, strides = np.empty((self.array.size + 1) // 2, np.uint8), ()
        elif strides is None:
            self._written, strides = np.empty(shape, self.array.dtype), ()
        _fill(tensor, self._written, dtype, shape, strides)

    def finish(self) -> Array:
        """Copies what was computed aside. Returns the caller's array."""
        if self.dtype.is_packed:
            self.array[...] = unpack(self._written, self.dtype, self.shape)
        elif self._written is not self.array:
            self.array[...] = self._written
        return self.array


def _writable(given: Any, dtype: DType, shape: Shape, what: str) -> Array:
    if not isinstance(given, np.ndarray) and not hasattr(given, "__dlpack__"):
        raise InvalidError(f"{what}: out= takes arrays, not {type(given).__name__}")
    array = _checked(given, dtype, what)
    if not array.flags.writeable:
        raise InvalidError(f"{what}: the array is read-only")
    if array.shape != shape:
        raise InvalidError(f"{what}: the shape is {array.shape}, not {shape}")
    return array
