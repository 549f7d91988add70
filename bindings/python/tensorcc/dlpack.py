"""Views of what other libraries hold, by DLPack (https://dmlc.github.io/dlpack): any object with
`__dlpack__` in the memory of the processor, bf16 and 8-bit floats too, of which numpy knows nothing.
"""
import ctypes as c
from typing import Any, Dict, Tuple

import numpy as np

from . import capi, dtypes
from .dtypes import Array, DType
from .errors import InvalidError


class _Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32),
                ("ndim", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)),
                ("byte_offset", c.c_uint64)]


class _Managed(c.Structure):
    pass


_Deleter = c.CFUNCTYPE(None, c.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c.c_void_p), ("deleter", c.c_void_p)]

_CPU, _CUDA_HOST = 1, 3
_CODES = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "bool", 10: "f8e4m3", 12: "f8e5m2"}

_python = c.pythonapi
_get = c.PYFUNCTYPE(c.c_void_p, c.py_object, c.c_char_p)(("PyCapsule_GetPointer", _python))
_is_valid = c.PYFUNCTYPE(c.c_int, c.py_object, c.c_char_p)(("PyCapsule_IsValid", _python))
_rename = c.PYFUNCTYPE(c.c_int, c.py_object, c.c_char_p)(("PyCapsule_SetName", _python))
_USED = b"used_dltensor"  # the capsule keeps the pointer to its name


class _Holder:
    """The memory of a tensor, given back when the last array that looks at it is gone."""

    def __init__(self, managed: Any, interface: Dict[str, Any]) -> None:
        self._managed = managed
        self.__array_interface__ = interface

    def __del__(self) -> None:
        deleter = self._managed.contents.deleter
        if deleter:
            _Deleter(deleter)(self._managed)


def _dtype_name(tensor: _Tensor) -> str:
    kind = _CODES.get(tensor.code, "?")
    return kind if kind in dtypes.BY_NAME else f"{kind}{tensor.bits}"


def _element(tensor: _Tensor, what: str) -> DType:
    name = _dtype_name(tensor)
    if tensor.lanes != 1 or name not in dtypes.BY_NAME or dtypes.BY_NAME[name].bits != tensor.bits:
        lanes = "" if tensor.lanes == 1 else f" and {tensor.lanes} lanes"
        raise InvalidError(f"{what}: DLPack type code {tensor.code} of {tensor.bits} bits{lanes} is not supported")
    return dtypes.BY_NAME[name]


def _interface(tensor: _Tensor, dtype: "np.dtype[Any]", what: str) -> Dict[str, Any]:
    if not 0 <= tensor.ndim <= capi.MAX_RANK:
        raise InvalidError(f"{what}: {tensor.ndim} axes are not 0 to {capi.MAX_RANK}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = None
    if tensor.strides:
        strides = tuple(tensor.strides[i] * dtype.itemsize for i in range(tensor.ndim))
    # Elements pass as their bits: the interface has no names for all of them.
    return {"version": 3, "shape": shape, "strides": strides, "typestr": f"<u{dtype.itemsize}",
            "data": ((tensor.data or 0) + tensor.byte_offset, False)}


def view(value: Any, what: str) -> Array:
    """An array over the memory of `value`."""
    return typed_view(value, what)[0]


def typed_view(value: Any, what: str) -> Tuple[Array, DType]:
    """The same with its element type."""
    device = value.__dlpack_device__()[0]
    if device not in (_CPU, _CUDA_HOST):
        raise InvalidError(f"{what}: the tensor is not in the processor's memory (DLPack device {int(device)})")
    capsule = value.__dlpack__()
    if not _is_valid(capsule, b"dltensor"):
        raise InvalidError(f"{what}: __dlpack__ gave no fresh \"dltensor\" capsule")
    managed = c.cast(_get(capsule, b"dltensor"), c.POINTER(_Managed))
    element = _element(managed.contents.tensor, what)
    dtype = element.numpy
    interface = _interface(managed.contents.tensor, dtype, what)
    _rename(capsule, _USED)
    holder = _Holder(managed, interface)
    if 0 in interface["shape"]:
        return np.empty(interface["shape"], dtype), element
    return np.asarray(holder).view(dtype), element
