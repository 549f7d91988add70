"""Compiling: texts and files to units, and what a unit can tell and do."""
import ctypes as c
import os
from dataclasses import dataclass
from threading import RLock
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import capi
from .errors import Diagnostic, InvalidError, MismatchError, error_of, graph_error
from .library import library
from .model import Model, bind_inputs, open_options
from .owner import Owner

_SEVERITIES = ("note", "warning", "error")
Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Option:
    """An option of the compiler, by its name on the command line."""
    name: str
    argument: str
    meaning: str


@dataclass(frozen=True)
class CheckResult:
    """What a check found for one output of a kernel, or of the whole model."""
    kernel: str
    output: str
    elements: int
    compared: int
    mismatches: int
    worst: float  # largest difference / tolerance
    first_index: int  # row-major, of the first mismatch; there are:
    got: float
    expected: float
    tolerance: float
    rms: float  # of the differences, relative to that of the values
    agrees: bool
    error: Optional[str] = None  # an index out of range, which the compiled code and the evaluator both report


def options() -> List[Option]:
    """All options that `compile` takes."""
    rows: List[Option] = []
    while True:
        row = library().tcc_option_at(len(rows))
        if not row:
            return rows
        raw = row.contents
        rows.append(Option(raw.name.decode(), raw.argument.decode(), raw.meaning.decode()))


# ---- options ---------------------------------------------------------------------------------------


def _option_values(value: Any) -> Iterator[str]:
    if value is True:
        yield ""
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{key}={_range(item)}"
    elif isinstance(value, (list, tuple)):
        yield ",".join(map(str, value))
    elif value is not None and value is not False:
        yield os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _range(item: Any) -> str:
    """A number, or the ends of a range and the value to tune for."""
    if not isinstance(item, (tuple, range)):
        return str(item)
    if isinstance(item, range):
        return f"{item.start}..{item.stop - 1}"
    return f"{item[0]}..{item[1]}" + (f":{item[2]}" if len(item) > 2 else "")


class Compiler:
    """A tcc_compiler, which belongs to one thread at a time, with what it has said."""

    def __init__(self) -> None:
        pointer = capi.Pointer()
        status = library().tcc_compiler_new(c.byref(pointer))
        if status:
            raise error_of(status, "no compiler could be made")
        self.owner = Owner("compiler", pointer, library().tcc_compiler_free)
        self.lock = RLock()

    @property
    def pointer(self) -> Any:
        return self.owner.pointer

    def set_options(self, values: Mapping[str, Any]) -> None:
        known = {option.name for option in options()}
        for key, value in values.items():
            name = key if key in known else key.replace("_", "-")
            for text in _option_values(value):
                self.check(library().tcc_set_option(self.pointer, capi.encoded(name), capi.encoded(text)))

    def listen(self, diagnostics: List[Diagnostic], dumps: List[str]) -> "_Listening":
        return _Listening(self, diagnostics, dumps)

    def check(self, status: int, diagnostics: Sequence[Diagnostic] = ()) -> None:
        if status:
            raise error_of(status, capi.decoded(library().tcc_message(self.pointer)), diagnostics)


class _Listening:
    """Has the compiler's callbacks during a `with` block."""

    def __init__(self, compiler: Compiler, diagnostics: List[Diagnostic], dumps: List[str]) -> None:
        self._compiler = compiler

        def on_diagnostic(_: Any, raw: Any) -> None:
            diagnostics.append(_diagnostic(raw.contents))

        def on_dump(_: Any, text: Any, size: int) -> None:
            dumps.append(c.string_at(text, size).decode(errors="replace"))

        self._on_diagnostic = capi.DiagnosticCallback(on_diagnostic)
        self._on_dump = capi.TextCallback(on_dump)

    def __enter__(self) -> None:
        self._set(self._on_diagnostic, self._on_dump)

    def __exit__(self, *exception: Any) -> None:
        self._set(capi.DiagnosticCallback(), capi.TextCallback())

    def _set(self, diagnostic: Any, dump: Any) -> None:
        library().tcc_on_diagnostic(self._compiler.pointer, diagnostic, None)
        library().tcc_on_dump(self._compiler.pointer, dump, None)


def _diagnostic(raw: capi.Diagnostic) -> Diagnostic:
    return Diagnostic(_SEVERITIES[raw.severity], capi.decoded(raw.id), capi.decoded(raw.path) or None,
                      raw.line, raw.column, capi.decoded(raw.text), capi.decoded(raw.rendered),
                      capi.decoded(raw.label) if raw.label else None)


# ---- units -----------------------------------------------------------------------------------------


class Unit:
    """A compiled model. Its methods may be called from any thread; one runs at a time."""

    def __init__(self, compiler: Compiler, pointer: Any, diagnostics: List[Diagnostic],
                 dumps: List[str]) -> None:
        self._compiler = compiler
        self._handle: Optional[Owner] = Owner("unit", pointer, library().tcc_unit_free, compiler.owner)
        self._model: Optional[Model] = None
        self.diagnostics = diagnostics
        """Warnings of the compilation, with their notes."""
        self.dumps = "".join(dumps)
        """What options like dump-after asked for."""

    @property
    def _pointer(self) -> Any:
        if self._handle is None:
            raise InvalidError("the unit is closed")
        return self._handle.pointer

    def _call(self, function: Any, *arguments: Any) -> None:
        diagnostics: List[Diagnostic] = []
        with self._compiler.lock, self._compiler.listen(diagnostics, []):
            self._compiler.check(function(self._pointer, *arguments), diagnostics)

    def _text(self, function: Any, kind: Optional[str]) -> str:
        text, size = capi.Pointer(), c.c_size_t()
        self._call(function, capi.encoded(kind) if kind else None, c.byref(text), c.byref(size))
        return capi.text_at(text, size)

    def text(self, kind: str) -> str:
        """A level as text: "ir", "program", "tile", "tile-free", "llvm", "ptx", "asm", "dot",
        "header", "times"."""
        return self._text(library().tcc_unit_text, kind)

    def explain(self, show: Optional[str] = None) -> str:
        """The decisions of the passes: `show` is a list of fusion, plan, memory, schedule, gpu."""
        return self._text(library().tcc_unit_explain, show)

    def write(self, path: Path) -> None:
        """Writes the self-contained model.so; an older file is whole until the new one is."""
        self._call(library().tcc_unit_write, capi.encoded(os.fsencode(path)))

    def write_object(self, path: Path) -> None:
        self._call(library().tcc_unit_write_object, capi.encoded(os.fsencode(path)))

    def open(self, *, threads: int = 0, device: Optional[str] = None) -> Model:
        """The model in this process; it keeps what it needs of the unit."""
        api, pointer = c.POINTER(capi.ModelApi)(), capi.Pointer()
        with self._compiler.lock:
            self._call(library().tcc_unit_open, c.byref(open_options(threads, device)), c.byref(api),
                       c.byref(pointer))
            return Model(api.contents, pointer, self._handle)

    def check(self, /, *args: Any, **inputs: Any) -> List[CheckResult]:
        """Compares the compiled code with the reference evaluator on these inputs: kernel by kernel,
        then as a whole. MismatchError, with all results, when anything differs."""
        return self.check_on(None, *args, **inputs)

    def check_on(self, device: Optional[str], /, *args: Any, **inputs: Any) -> List[CheckResult]:
        """The same for what runs on a device ("emu", "cuda"), which the unit must have been compiled
        for (target="native,sm_80")."""
        if self._model is None:
            self._model = self.open(threads=1)
        tensors, arrays = bind_inputs(self._model.inputs, args, inputs)
        results: List[CheckResult] = []

        def on_result(_: Any, raw: Any) -> None:
            results.append(_check_result(raw.contents))

        try:
            self._call(library().tcc_unit_check_on, None if device is None else capi.encoded(device), tensors,
                       len(arrays), capi.CheckCallback(on_result), None)
        except MismatchError as error:
            error.results = results
            raise
        return results

    def close(self) -> None:
        """Lets go of the unit; its memory is freed when its models and sessions are closed too."""
        with self._compiler.lock:
            self._handle = self._model = None

    def __enter__(self) -> "Unit":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def _check_result(raw: capi.CheckResult) -> CheckResult:
    return CheckResult(capi.decoded(raw.kernel), capi.decoded(raw.output), raw.elements, raw.compared,
                       raw.mismatches, raw.worst, raw.first_index, raw.got, raw.expected, raw.tolerance,
                       raw.rms, bool(raw.agrees), capi.decoded(raw.error) or None)


# ---- compiling -------------------------------------------------------------------------------------


def _is_text(source: Any) -> bool:
    return isinstance(source, bytes) or isinstance(source, str) and ("\n" in source or "{" in source)


def _text_path(text: bytes) -> str:
    return "model.tir" if text.startswith(b"tir ") else "model.g"


def compile(source: Union[Path, bytes], *, path: Optional[Path] = None,
            options: Optional[Mapping[str, Any]] = None, **more: Any) -> Unit:
    """Compiles a model: a text (bytes, or a str that holds a newline or a brace) or a file.

    `path` is the file that a text passes for: its name decides the language (.g or .tir), messages
    name it, and files that the text names are relative to its folder. Options have their names on
    the command line, `-` written `_` in keywords; True stands for those without a value, a mapping
    for NAME=VALUE: `compile("model.g", O=3, D={"N": 8, "M": (1, 64)}, fstrict_sums=True)`.
    """
    compiler, pointer = Compiler(), capi.Pointer()
    compiler.set_options({**(options or {}), **more})
    diagnostics: List[Diagnostic] = []
    dumps: List[str] = []
    with compiler.listen(diagnostics, dumps):
        compiler.check(_compile(compiler, source, path, pointer), diagnostics)
    return Unit(compiler, pointer, diagnostics, dumps)


def compile_graph(graph: Any, options: Mapping[str, Any], told: List[Diagnostic]) -> Unit:
    """Compiles what was built call by call; `told` is what the graph's own compiler says."""
    compiler, pointer = Compiler(), capi.Pointer()
    compiler.set_options(options)
    diagnostics: List[Diagnostic] = []
    dumps: List[str] = []
    with compiler.listen(diagnostics, dumps):
        status = library().tcc_compile_graph(compiler.pointer, graph, c.byref(pointer))
    diagnostics[:0] = told
    if status == InvalidError.status:
        raise graph_error(capi.decoded(library().tcc_message(compiler.pointer)), diagnostics)
    compiler.check(status, diagnostics)
    return Unit(compiler, pointer, diagnostics, dumps)


def _compile(compiler: Compiler, source: Any, path: Optional[Path], pointer: Any) -> int:
    if path is None and not _is_text(source):
        return int(library().tcc_compile_file(compiler.pointer, capi.encoded(os.fsencode(source)), c.byref(pointer)))
    text = source.encode() if isinstance(source, str) else bytes(source)
    name = capi.encoded(os.fsencode(path if path is not None else _text_path(text)))
    return int(library().tcc_compile_memory(compiler.pointer, name, text, len(text), c.byref(pointer)))


# ---- texts -----------------------------------------------------------------------------------------


def _compiler_text(function: Any, *arguments: bytes) -> str:
    compiler, text, size = Compiler(), capi.Pointer(), c.c_size_t()
    compiler.check(function(compiler.pointer, *arguments, c.byref(text), c.byref(size)))
    return capi.text_at(text, size)


def reference(kind: str) -> str:
    """The page of "ops", "functions", "passes", "targets" or "schedules"."""
    return _compiler_text(library().tcc_reference, capi.encoded(kind))


def read_artefact(path: Path, kind: str = "metadata") -> str:
    """What a model.so holds, without loading it: "metadata" (JSON), "graph" (.tir) or "explain"."""
    return _compiler_text(library().tcc_artefact_read, capi.encoded(os.fsencode(path)), capi.encoded(kind))
