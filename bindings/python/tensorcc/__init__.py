"""tensorcc: compile tensor models and run them on numpy arrays.

    import numpy, tensorcc
    unit = tensorcc.compile("model double(x: f32[4]) -> (y: f32[4]) { y = x * 2.0 }")
    y, = unit.open()(numpy.ones(4, "f4"))

`compile` makes a `Unit` of a text or a file, `Graph` builds a model call by call, and `load` opens a
compiled model.so. docs/python.md goes through all of it.
"""
from .dtypes import DType, bool_, i4, u4, i8, u8, i16, u16, i32, u32, i64, u64
from .dtypes import f8e4m3, f8e5m2, f16, bf16, f32, f64
from .errors import (Diagnostic, EnvironmentError, Error, GraphError, IndexOutOfRangeError,
                     InternalError, InvalidError, LibraryNotFoundError, MismatchError, OutOfMemoryError)
from .functions import Function, functions
from .graph import Graph
from .library import library_path, version
from .model import Dim, Model, Outputs, Port, RunInfo, Session, load
from .unit import CheckResult, Option, Unit, compile, options, read_artefact, reference
from .value import Value

__version__ = "0.1.0"

__all__ = [
    "CheckResult", "DType", "Diagnostic", "Dim", "EnvironmentError", "Error", "Function", "Graph",
    "GraphError", "IndexOutOfRangeError", "InternalError", "InvalidError", "LibraryNotFoundError",
    "MismatchError", "Model", "Option", "OutOfMemoryError", "Outputs", "Port", "RunInfo", "Session",
    "Unit", "Value", "bf16", "bool_", "compile", "f16", "f32", "f64", "f8e4m3", "f8e5m2", "functions",
    "i16", "i32", "i4", "i64", "i8", "library_path", "load", "options", "read_artefact", "reference",
    "u16", "u32", "u4", "u64", "u8", "version",
]
