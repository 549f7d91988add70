"""The structs and functions of include/tcc/model.h, tcc.h and graph.h, for ctypes."""
import ctypes as c
from typing import Any, Union

from .errors import InvalidError

MAX_RANK = 8
MODEL_API_VERSION = 1

Pointer = c.c_void_p
Status = c.c_int
Value = c.c_uint64


def encoded(text: Union[str, bytes]) -> bytes:
    """A name or path for C, where a zero byte would end it."""
    data = text.encode() if isinstance(text, str) else text
    if 0 in data:
        raise InvalidError(f"a zero byte in {text[:80]!r}")
    return data


class Sized(c.Structure):
    """A struct whose first field, `size`, is its own size."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.size = c.sizeof(self)


class Tensor(Sized):
    _fields_ = [("size", c.c_uint32), ("device", c.c_int32), ("dtype", c.c_int32), ("rank", c.c_uint32),
                ("data", Pointer), ("byte_offset", c.c_uint64), ("dims", c.c_int64 * MAX_RANK),
                ("strides", c.c_int64 * MAX_RANK)]


class Port(Sized):
    _fields_ = [("size", c.c_uint32), ("name", c.c_char_p), ("dtype", c.c_int32), ("rank", c.c_uint32),
                ("dims", c.c_int64 * MAX_RANK), ("lo", c.c_int64 * MAX_RANK), ("hi", c.c_int64 * MAX_RANK),
                ("dim_names", c.c_char_p * MAX_RANK)]


class OpenOptions(Sized):
    _fields_ = [("size", c.c_uint32), ("threads", c.c_int32), ("parallel_for", Pointer),
                ("parallel_user", Pointer), ("allocator", Pointer), ("device", c.c_char_p)]


class RunInfo(Sized):
    _fields_ = [("size", c.c_uint32), ("bucket", c.c_uint32), ("planned_bytes", c.c_uint64),
                ("arena_bytes", c.c_uint64), ("scratch_bytes", c.c_uint64), ("launches", c.c_uint32)]


class Option(Sized):
    _fields_ = [("size", c.c_uint32), ("name", c.c_char_p), ("argument", c.c_char_p), ("meaning", c.c_char_p)]


class Diagnostic(Sized):
    _fields_ = [("size", c.c_uint32), ("severity", c.c_int), ("id", c.c_char_p), ("path", c.c_char_p),
                ("line", c.c_uint32), ("column", c.c_uint32), ("text", c.c_char_p),
                ("rendered", c.c_char_p), ("label", c.c_char_p)]


class CheckResult(Sized):
    _fields_ = [("size", c.c_uint32), ("kernel", c.c_char_p), ("output", c.c_char_p),
                ("elements", c.c_uint64), ("compared", c.c_uint64), ("mismatches", c.c_uint64),
                ("worst", c.c_double), ("first_index", c.c_uint64), ("got", c.c_double),
                ("expected", c.c_double), ("tolerance", c.c_double), ("rms", c.c_double),
                ("agrees", c.c_uint32), ("error", c.c_char_p)]


class Call(Sized):
    _fields_ = [("size", c.c_uint32), ("function", c.c_char_p), ("args", c.POINTER(Value)),
                ("names", c.POINTER(c.c_char_p)), ("arg_count", c.c_uint32), ("scope", c.c_char_p)]


class ValueInfo(Sized):
    _fields_ = [("size", c.c_uint32), ("text", c.c_char_p), ("label", c.c_char_p), ("dtype", c.c_int32),
                ("rank", c.c_uint32), ("dims", c.c_int64 * MAX_RANK)]


_Tensors = c.POINTER(Tensor)
_Values = c.POINTER(Value)
_Out = c.POINTER(Pointer)
_Size = c.POINTER(c.c_size_t)
_Text = c.POINTER(Pointer)
_PortFunction = c.CFUNCTYPE(Status, Pointer, c.c_uint32, c.POINTER(Port))
_RunFunction = c.CFUNCTYPE(Status, Pointer, _Tensors, c.c_uint32, _Tensors, c.c_uint32)

DiagnosticCallback = c.CFUNCTYPE(None, Pointer, c.POINTER(Diagnostic))
TextCallback = c.CFUNCTYPE(None, Pointer, Pointer, c.c_size_t)
CheckCallback = c.CFUNCTYPE(None, Pointer, c.POINTER(CheckResult))


class ModelApi(c.Structure):
    _fields_ = [
        ("version", c.c_uint32),
        ("size", c.c_uint32),
        ("open", c.CFUNCTYPE(Status, c.POINTER(OpenOptions), _Out, c.c_char_p, c.c_size_t)),
        ("close", c.CFUNCTYPE(None, Pointer)),
        ("metadata", c.CFUNCTYPE(Pointer, Pointer, _Size)),
        ("input_count", c.CFUNCTYPE(c.c_uint32, Pointer)),
        ("output_count", c.CFUNCTYPE(c.c_uint32, Pointer)),
        ("input_port", _PortFunction),
        ("output_port", _PortFunction),
        ("session_new", c.CFUNCTYPE(Status, Pointer, _Out)),
        ("session_free", c.CFUNCTYPE(None, Pointer)),
        ("session_message", c.CFUNCTYPE(c.c_char_p, Pointer)),
        ("output_dims", c.CFUNCTYPE(Status, Pointer, _Tensors, c.c_uint32, c.c_uint32,
                                    c.POINTER(c.c_int64))),
        ("run", _RunFunction),
        ("enqueue", c.CFUNCTYPE(Status, Pointer, _Tensors, c.c_uint32, _Tensors, c.c_uint32, Pointer)),
        ("sync", c.CFUNCTYPE(Status, Pointer)),
        ("run_info", c.CFUNCTYPE(Status, Pointer, c.POINTER(RunInfo))),
        ("profile", Pointer),
        # From version 2, which is not asked for: a model.so of version 1 ends here.
        ("stream_new", Pointer), ("stream_sync", Pointer), ("stream_free", Pointer),
    ]


# What libtensorcc exports: the result, then the arguments.
FUNCTIONS = {
    "tcc_version": (c.c_char_p,),
    "tcc_compiler_new": (Status, _Out),
    "tcc_compiler_free": (None, Pointer),
    "tcc_set_option": (Status, Pointer, c.c_char_p, c.c_char_p),
    "tcc_option_at": (c.POINTER(Option), c.c_uint32),
    "tcc_on_diagnostic": (None, Pointer, DiagnosticCallback, Pointer),
    "tcc_on_dump": (None, Pointer, TextCallback, Pointer),
    "tcc_message": (c.c_char_p, Pointer),
    "tcc_compile_file": (Status, Pointer, c.c_char_p, _Out),
    "tcc_compile_memory": (Status, Pointer, c.c_char_p, c.c_char_p, c.c_size_t, _Out),
    "tcc_unit_free": (None, Pointer),
    "tcc_unit_text": (Status, Pointer, c.c_char_p, _Text, _Size),
    "tcc_unit_explain": (Status, Pointer, c.c_char_p, _Text, _Size),
    "tcc_unit_write_object": (Status, Pointer, c.c_char_p),
    "tcc_unit_write": (Status, Pointer, c.c_char_p),
    "tcc_unit_open": (Status, Pointer, c.POINTER(OpenOptions), c.POINTER(c.POINTER(ModelApi)), _Out),
    "tcc_unit_check": (Status, Pointer, _Tensors, c.c_uint32, CheckCallback, Pointer),
    "tcc_unit_check_on": (Status, Pointer, c.c_char_p, _Tensors, c.c_uint32, CheckCallback, Pointer),
    "tcc_graph_new": (Status, Pointer, c.c_char_p, _Out),
    "tcc_graph_free": (None, Pointer),
    "tcc_graph_label": (None, Pointer, c.c_char_p),
    "tcc_graph_rename": (Status, Pointer, Value, c.c_char_p),
    "tcc_graph_place": (None, Pointer, c.c_char_p, c.c_uint32),
    "tcc_graph_dim": (Value, Pointer, c.c_char_p, c.c_int64, c.c_int64, c.c_int64),
    "tcc_graph_input": (Value, Pointer, c.c_char_p, c.c_int, _Values, c.c_uint32),
    "tcc_graph_param": (Value, Pointer, c.c_char_p, c.c_int, c.POINTER(c.c_int64), c.c_uint32),
    "tcc_graph_weight": (Status, Pointer, c.c_char_p, _Tensors),
    "tcc_graph_constant": (Value, Pointer, _Tensors),
    "tcc_graph_output": (Status, Pointer, c.c_char_p, Value),
    "tcc_graph_int": (Value, Pointer, c.c_int64),
    "tcc_graph_float": (Value, Pointer, c.c_double),
    "tcc_graph_bool": (Value, Pointer, c.c_int),
    "tcc_graph_string": (Value, Pointer, c.c_char_p),
    "tcc_graph_dtype": (Value, Pointer, c.c_int),
    "tcc_graph_none": (Value, Pointer),
    "tcc_graph_list": (Value, Pointer, _Values, c.c_uint32),
    "tcc_graph_unary": (Value, Pointer, c.c_char_p, Value),
    "tcc_graph_binary": (Value, Pointer, c.c_char_p, Value, Value),
    "tcc_graph_call": (Value, Pointer, c.POINTER(Call)),
    "tcc_graph_apply": (Value, Pointer, c.c_char_p, _Values, c.c_uint32),
    "tcc_graph_item": (Value, Pointer, Value, c.c_uint32),
    "tcc_graph_member": (Value, Pointer, Value, c.c_char_p),
    "tcc_graph_index": (Value, Pointer, Value, _Values, c.c_uint32),
    "tcc_graph_slice": (Value, Pointer, Value, Value, Value),
    "tcc_graph_begin_cond": (Status, Pointer, Value),
    "tcc_graph_else": (Status, Pointer, _Values, c.c_uint32),
    "tcc_graph_begin_loop": (Status, Pointer, _Values, c.c_uint32, c.c_int64, _Values),
    "tcc_graph_do": (Status, Pointer, Value, _Values),
    "tcc_graph_begin_scan": (Status, Pointer, _Values, c.c_uint32, _Values, c.c_uint32, c.c_int, _Values, _Values),
    "tcc_graph_end": (Value, Pointer, _Values, c.c_uint32),
    "tcc_graph_depth": (c.c_uint32, Pointer),
    "tcc_graph_abandon": (Status, Pointer),
    "tcc_graph_info": (Status, Pointer, Value, c.POINTER(ValueInfo)),
    "tcc_graph_text": (Status, Pointer, _Text, _Size),
    "tcc_compile_graph": (Status, Pointer, Pointer, _Out),
    "tcc_artefact_read": (Status, Pointer, c.c_char_p, c.c_char_p, _Text, _Size),
    "tcc_reference": (Status, Pointer, c.c_char_p, _Text, _Size),
}


def text_at(pointer: Pointer, size: c.c_size_t) -> str:
    """A copy of a text that the library gave."""
    return c.string_at(pointer, size.value).decode() if pointer else ""


def decoded(text: Any) -> str:
    return str(text.decode(errors="replace")) if text else ""
