"""Models built call by call.

    g = tensorcc.Graph("classify")
    x = g.input("x", "f32", ["N", 784])
    h = g.linear(x, 128, scope="fc1").relu()
    g.output("probs", g.linear(h, 10, scope="fc2").softmax())
    unit = g.compile(params="random:1")

A graph is a list of statements of the language, one a call, which `text()` shows. All functions of
the language are methods, of the graph and of its values (which then are the first argument). The
compiler checks the whole: what is wrong is said with the label and the line of the host's own call.
"""
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import dtypes, weights as _weights
from .dtypes import DType
from .errors import Diagnostic, GraphError, InvalidError
from .functions import Function, functions
from .unit import Unit, compile

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HERE = os.path.dirname(os.path.abspath(__file__))
_WORDS = frozenset(
    "weights dim in tune fn model train param shared state return for as minimize with assert if else "
    "while scan and or not None true false inf nan pi".split()) | set(dtypes.BY_NAME)
_LITERALS = frozenset(("bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "f32", "f64"))
_MAX_LITERAL = 64  # elements of a constant that is written as a text
_DEFAULT_RANGE = (1, 65536)  # of dims that were not declared

Place = Tuple[str, int]


def _caller() -> Place:
    """The file and line of the first frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _HERE:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _name(name: str, what: str) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise InvalidError(f"{what} {name!r} is no name: letters, digits and _, not beginning with a digit")
    if name in _WORDS:
        raise InvalidError(f"{what} {name!r} is a word of the language")
    return name


def _string(text: str) -> str:
    if re.search(r'["{}\n]', text):
        raise InvalidError(f"a string of the language holds no quotes, braces or newlines: {text!r}")
    return f'"{text}"'


class Value:
    """A value of a graph: a tensor, or what is known at compile time, like `x.shape[0]`."""
    __array_ufunc__ = None  # numpy arrays leave operators to us
    __iter__ = None  # a value has no length that is known here

    def __init__(self, graph: "Graph", place: Place) -> None:
        self._graph, self._place = graph, place
        self._label: Optional[str] = None
        self._written: Optional[str] = None  # a name that cannot be another: of inputs and dims

    def named(self, label: str) -> "Value":
        """Labels the value, for messages and in the text. Returns it."""
        self._label = str(label)
        return self

    @property
    def label(self) -> Optional[str]:
        return self._label or self._written

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or name not in functions():
            raise AttributeError(f"a value has no {name!r}: it is no function of the language")
        return self._graph._method(functions()[name], self)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *functions()]

    def __bool__(self) -> bool:
        raise TypeError("a value of a graph is not known while it is built: use select(c, x, y)")

    def __repr__(self) -> str:
        return f"<tensorcc.Value {self.label or ''} of {self._graph.name}>"

    __hash__ = object.__hash__

    @property
    def shape(self) -> "Value":
        return self._graph._add(("", self, ".shape"))

    @property
    def dtype(self) -> "Value":
        return self._graph._add(("", self, ".dtype"))

    @property
    def T(self) -> "Value":
        return self._graph._add(("", self, ".T"))

    def __getitem__(self, key: Any) -> "Value":
        pieces: List[Any] = ["", self, "["]
        for i, item in enumerate(key if isinstance(key, tuple) else (key,)):
            pieces.append(", " if i else "")
            pieces += _subscript(item)
        return self._graph._add((*pieces, "]"))

    def __neg__(self) -> "Value":
        return self._graph._add(("-", self))

    def __pos__(self) -> "Value":
        return self

    def __abs__(self) -> "Value":
        return self._graph._add(("abs(", self, ")"), "abs")

    def __invert__(self) -> "Value":
        return self._graph._add(("bit_not(", self, ")"), "bit_not")


def _subscript(item: Any) -> List[Any]:
    if item is Ellipsis:
        raise InvalidError("subscripts have no ...: axes that are not mentioned are taken whole")
    if not isinstance(item, slice):
        return [_Argument(item, "index")]
    start, stop, step = ("" if end is None else _Argument(end, "index")
                         for end in (item.start, item.stop, item.step))
    return [start, ":", stop] + ([":", step] if step else [])


def _operator(word: str, function: str = "") -> Tuple[Callable, Callable]:
    """The methods x.__op__(y) and x.__rop__(y) of an infix word, or of a function."""
    opening, between, closing = (f"{function}(", ", ", ")") if function else ("", f" {word} ", "")

    def forward(self: Value, other: Any) -> Value:
        return self._graph._add((opening, self, between, _Argument(other), closing), function)

    def backward(self: Value, other: Any) -> Value:
        return self._graph._add((opening, _Argument(other), between, self, closing), function)

    return forward, backward


for _method, _word, _function in (
        ("add", "+", ""), ("sub", "-", ""), ("mul", "*", ""), ("truediv", "/", ""), ("floordiv", "//", ""),
        ("mod", "%", ""), ("pow", "**", ""), ("matmul", "@", ""), ("and", "", "bit_and"),
        ("or", "", "bit_or"), ("xor", "", "bit_xor"), ("lshift", "", "shift_left"),
        ("rshift", "", "shift_right")):
    _forward, _backward = _operator(_word, _function)
    setattr(Value, f"__{_method}__", _forward)
    setattr(Value, f"__r{_method}__", _backward)
for _method, _word in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(Value, f"__{_method}__", _operator(_word)[0])


@dataclass
class _Argument:
    """A host's value within a statement; `role` is the parameter's name."""
    value: Any
    role: str = ""


@dataclass
class _Statement:
    targets: Tuple[Value, ...]
    pieces: Tuple[Any, ...]  # texts, Values, _Arguments
    place: Place


@dataclass
class _Param:
    name: str
    dtype: DType
    dims: Tuple[int, ...]
    initial: Optional[Any]
    place: Place
    value: Value = field(repr=False)


class Graph:
    """A model that is being built. It belongs to one thread at a time."""

    def __init__(self, name: str = "graph", *, dims: Optional[Mapping[str, Sequence[int]]] = None) -> None:
        self.name = _name(name, "the model's name")
        self._dims: Dict[str, Tuple[int, ...]] = {}
        self._inputs: List[Tuple[str, DType, Tuple[Any, ...], Value]] = []
        self._outputs: Dict[str, Tuple[Value, Place]] = {}
        self._params: Dict[str, _Param] = {}
        self._statements: List[_Statement] = []
        self._used: Dict[str, Place] = {}  # functions
        self._weights: Dict[str, Tuple[np.ndarray, DType]] = {}
        for dim, ends in (dims or {}).items():
            self.dim(dim, *ends)

    # ---- what a model is made of ----

    def dim(self, name: str, lo: int, hi: int, tune: Optional[int] = None) -> Value:
        """Declares a dim that varies within lo..hi, and is tuned for the value `tune`. The value it
        gives may stand in shapes. Names in the dims of inputs that were not declared lie in 1..65536."""
        self._dims[_name(name, "dim")] = (lo, hi) if tune is None else (lo, hi, tune)
        return self._fixed(name)

    def input(self, name: str, dtype: Any, dims: Sequence[Any] = ()) -> Value:
        """An input; dims are numbers, names of dims, or expressions of these: "N + 1"."""
        if any(name == other[0] for other in self._inputs):
            raise InvalidError(f"there is an input {name!r} already")
        value = self._fixed(_name(name, "input"))
        shape = tuple(self._dim_text(dim) for dim in dims)
        self._inputs.append((name, dtypes.of(dtype), shape, value))
        return value

    def param(self, name: str, value: Any = None, dims: Optional[Sequence[int]] = None, *,
              dtype: Any = None, init: Optional[Union[int, float]] = None) -> Value:
        """A parameter by its full name: of an array, or of `dims` and `dtype` for one whose value is
        `init`, or comes with compile(weights=…) or the option params."""
        if name in self._params:
            raise InvalidError(f"there is a parameter {name!r} already")
        for part in name.split("."):
            if not re.match(r"\w+\Z", part):
                raise InvalidError(f"{name!r} is no name of a parameter")
        if dtype is not None and dtypes.of(dtype).is_packed:
            return self._packed_param(name, value, dims, dtypes.of(dtype), init)
        if value is not None:
            self._weights[name] = array, element = _weights.typed(value, dtype)
            shape: Tuple[int, ...] = array.shape
        else:
            element, shape = dtypes.of(dtype or "f32"), tuple(dims or ())
        made = self._value()
        self._params[name] = _Param(name, element, shape, init, made._place, made)
        return made

    # Files of weights have no 4-bit integers: they are bytes there.
    def _packed_param(self, name: str, value: Any, dims: Any, dtype: DType, init: Any) -> Value:
        array = None if value is None else _weights.typed(value, dtype)[0]
        byte = "i8" if dtype.name == "i4" else "u8"
        return self.param(name, array, dims, dtype=byte, init=init).cast(dtype)

    def constant(self, value: Any, dtype: Any = None) -> Value:
        """A tensor of an array, a list or a number. Arrays keep their dtype."""
        array, element = _weights.typed(value, dtype)
        if 0 < array.size <= _MAX_LITERAL and element.name in _LITERALS:
            return self._add(("tensor(", _literal(array), f", dtype={element})"), "tensor")
        return self.param(f"constant_{len(self._params)}", array, dtype=element)

    def output(self, name: str, value: Any) -> None:
        """Names an output; it has the type of its value."""
        if name in self._outputs:
            raise InvalidError(f"there is an output {name!r} already")
        if not isinstance(value, Value):
            value = self.constant(value)
        self._own(value)
        self._outputs[_name(name, "output")] = (value, _caller())

    def call(self, function: str, *args: Any, scope: Optional[str] = None, **named: Any) -> Any:
        """Calls a function of the language by its name."""
        if function not in functions():
            raise InvalidError(f"there is no function {function!r}")
        return self._call(functions()[function], args, named, scope)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in functions():
            raise AttributeError(f"a graph has no {name!r}: it is no function of the language")
        return self._method(functions()[name])

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *functions()]

    # ---- statements ----

    def _value(self) -> Value:
        return Value(self, _caller())

    def _fixed(self, name: str) -> Value:
        value = self._value()
        value._written = name
        return value

    def _own(self, value: Value) -> Value:
        if value._graph is not self:
            raise InvalidError(f"{value!r} belongs to another graph")
        return value

    def _dim_text(self, dim: Any) -> str:
        if isinstance(dim, Value):
            return self._own(dim)._written or ""
        for name in re.findall(r"[A-Za-z_]\w*", str(dim)):
            self._dims.setdefault(_name(name, "dim"), _DEFAULT_RANGE)
        return str(dim)

    def _add(self, pieces: Sequence[Any], function: str = "", results: int = 1) -> Any:
        place = _caller()
        if function:
            self._used.setdefault(function, place)
        prepared = tuple(self._prepare(piece) for piece in pieces)
        targets = tuple(Value(self, place) for _ in range(results))
        self._statements.append(_Statement(targets, prepared, place))
        return targets[0] if results == 1 else targets

    def _prepare(self, piece: Any) -> Any:
        """Arrays in arguments become constants before the statement that uses them."""
        if isinstance(piece, Value):
            return self._own(piece)
        if isinstance(piece, _Argument):
            _host_text(piece.value, piece.role, str)  # says at once what cannot be written
            return _Argument(self._argument(piece.value), piece.role)
        return piece

    def _argument(self, value: Any) -> Any:
        if isinstance(value, Value):
            return self._own(value)
        if isinstance(value, np.ndarray):
            return self.constant(value)
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        return value

    def _method(self, function: Function, *first: Value) -> Callable[..., Any]:
        def method(*args: Any, scope: Optional[str] = None, **named: Any) -> Any:
            return self._call(function, (*first, *args), named, scope)

        method.__name__ = method.__qualname__ = function.name
        method.__doc__ = f"{function.signature}: {function.meaning}. `scope` prefixes its parameters."
        if not first:
            method.__signature__ = function.python_signature  # type: ignore[attr-defined]
        return method

    def _call(self, function: Function, args: Sequence[Any], named: Mapping[str, Any],
              scope: Optional[str]) -> Any:
        pieces: List[Any] = [f"{function.name}("]
        given = {name: value for name, value in named.items() if value is not None}
        for i, (parameter, by_position, value) in enumerate(function.bind(args, given)):
            pieces.append((", " if i else "") + ("" if by_position else f"{parameter.name}="))
            pieces.append(_Argument(value, parameter.name))
        pieces.append(")" if scope is None else f") as {_string(scope)}")
        return self._add(pieces, function.name, function.results)

    # ---- the text ----

    def text(self) -> str:
        """The model in the language (docs/language.md)."""
        return _Text(self, None).text

    def compile(self, *, weights: Optional[Mapping[str, Any]] = None,
                options: Optional[Mapping[str, Any]] = None, **more: Any) -> Unit:
        """Compiles the graph; options as those of `tensorcc.compile`. `weights` are arrays for the
        parameters of layers, by full name: {"fc1.weight": w}."""
        if not self._outputs:
            raise GraphError(f"the graph {self.name} has no outputs")
        arrays = dict(self._weights)
        for name, value in (weights or {}).items():
            declared = self._params.get(name)
            arrays[name] = _weights.typed(value, declared.dtype if declared else None)
        with tempfile.TemporaryDirectory(prefix="tensorcc") as folder:
            path = os.path.join(folder, "weights.safetensors")
            if arrays:
                _weights.write(path, arrays)
            written = _Text(self, path if arrays else None)
            try:
                return compile(written.text, path=f"{self.name}.g", options=options, **more)
            except InvalidError as error:
                raise _told(error, written) from None


def _literal(array: np.ndarray) -> str:
    def of(item: Any) -> str:
        return "[" + ", ".join(map(of, item)) + "]" if isinstance(item, list) else _number(item)

    # The shortest decimal of an f32 is not that of the f64 it becomes.
    return of(array.astype(np.float64).tolist() if array.dtype == np.float32 else array.tolist())


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "(-9223372036854775807 - 1)" if value == -2**63 else str(value)
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return repr(value)


class _Text:
    """A graph written out: names for all values, and what each line is about."""

    def __init__(self, graph: Graph, weights: Optional[str]) -> None:
        self._graph = graph
        self._names: Dict[int, str] = {}
        self._lines: List[str] = []
        self.places: Dict[int, Tuple[Optional[str], Place]] = {}  # by line, from 1
        self._choose_names()
        self._write(weights)
        self.text = "\n".join(self._lines) + "\n"

    # An output's value has its name, if it is no input's and hides no function.
    def _choose_names(self) -> None:
        graph = self._graph
        taken = set(functions()) | _WORDS | set(graph._dims) | set(graph._outputs)
        for name, _, _, value in graph._inputs:
            self._check_input(name)
            taken.add(name)
            self._names[id(value)] = name
        for name, (value, _) in graph._outputs.items():
            if value._written is None and id(value) not in self._names and self._is_free(name):
                self._names[id(value)] = name
        for value in self._values():
            if id(value) not in self._names:
                self._names[id(value)] = self._new_name(value, taken)
                taken.add(self._names[id(value)])

    def _is_free(self, name: str) -> bool:
        graph = self._graph
        return not (name in functions() or name in graph._dims or any(name == i[0] for i in graph._inputs))

    def _check_input(self, name: str) -> None:
        graph = self._graph
        if name in graph._used:
            file, line = graph._used[name]
            raise GraphError(f"{file}:{line}: the input {name!r} hides the function of that name")
        if name in graph._dims:
            raise GraphError(f"the input {name!r} has the name of a dim")

    def _values(self) -> List[Value]:
        params = [param.value for param in self._graph._params.values()]
        return params + [target for statement in self._graph._statements for target in statement.targets]

    def _new_name(self, value: Value, taken: set) -> str:
        label = value._label or ""
        if _NAME.match(label) and label not in taken:
            return label
        number = len(self._names)
        while f"v{number}" in taken:
            number += 1
        return f"v{number}"

    def _line(self, text: str, label: Optional[str] = None, place: Optional[Place] = None) -> None:
        self._lines.append(text)
        if place:
            self.places[len(self._lines)] = (label, place)

    def _write(self, weights: Optional[str]) -> None:
        graph = self._graph
        if weights:
            self._line(f"weights {_string(weights)}")
        for name, (lo, hi, *tune) in graph._dims.items():
            self._line(f"dim {name} in {lo}..{hi}" + (f" tune {tune[0]}" if tune else ""))
        for i, param in enumerate(graph._params.values()):
            self._param_function(i, param)
        self._line(f"model {graph.name}(")
        for name, dtype, dims, value in graph._inputs:
            self._line(f"    {name}: {dtype}{_dims_text(dims)},", name, value._place)
        self._line(") -> (")
        for name, (value, place) in graph._outputs.items():
            self._line(f"    {name},", name, place)
        self._line(") {")
        self._body()
        self._line("}")

    def _param_function(self, index: int, param: _Param) -> None:
        """A parameter's full name is the path of scopes, so each is declared in a function."""
        last = param.name.rpartition(".")[2]
        initial = "" if param.initial is None else f" = {_number(param.initial)}"
        self._line(f"fn _param_{index}() {{")
        self._line(f"    param {last}: {param.dtype}{_dims_text(param.dims)}{initial}", param.name, param.place)
        self._line(f"    return {last}")
        self._line("}")

    def _body(self) -> None:
        graph = self._graph
        for i, param in enumerate(graph._params.values()):
            scope = param.name.rpartition(".")[0]
            suffix = f" as {_string(scope)}" if scope else ""
            self._line(f"    {self._names[id(param.value)]} = _param_{i}(){suffix}", param.name, param.place)
        for statement in graph._statements:
            names = ", ".join(self._names[id(target)] for target in statement.targets)
            labels = [self._shown(target) for target in statement.targets]
            self._line(f"    {names} = {''.join(map(self._piece, statement.pieces))}",
                       ", ".join(filter(None, labels)) or None, statement.place)
        for name, (value, place) in graph._outputs.items():
            if self._value_name(value) != name:
                self._line(f"    {name} = {self._value_name(value)}", name, place)

    def _shown(self, value: Value) -> Optional[str]:
        outputs = [name for name, (other, _) in self._graph._outputs.items() if other is value]
        return value.label or (outputs[0] if outputs else None)

    def _value_name(self, value: Value) -> str:
        return value._written or self._names[id(value)]

    def _piece(self, piece: Any) -> str:
        if isinstance(piece, str):
            return piece
        if isinstance(piece, Value):
            return self._value_name(piece)
        text = _host_text(piece.value, piece.role, self._value_name)
        return f"({text})" if text.startswith("-") and not piece.role else text


def _dims_text(dims: Sequence[Any]) -> str:
    return f"[{', '.join(map(str, dims))}]" if dims else ""


def _host_text(value: Any, role: str, name_of: Callable[[Value], str]) -> str:
    """An argument as the language writes it. Names stand bare in shapes and where a dtype is meant."""
    if isinstance(value, Value):
        return name_of(value)
    if isinstance(value, np.ndarray):
        return ""  # which becomes a constant
    if value is None:
        return "None"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_host_text(item, role, name_of) for item in value) + "]"
    if isinstance(value, DType) or role in ("to", "dtype"):
        return dtypes.of(value).name
    if isinstance(value, str):
        return value if role == "shape" else _string(value)
    if isinstance(value, (bool, np.bool_)):
        return _number(bool(value))
    if isinstance(value, (int, np.integer)):
        return _number(int(value))
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    raise InvalidError(f"{value!r} is nothing that the language has")


def _told(error: InvalidError, text: _Text) -> GraphError:
    """The error with the host's own labels and lines."""
    diagnostics = [_located(diagnostic, text) for diagnostic in error.diagnostics]
    shown = [_shown_line(diagnostic) for diagnostic in diagnostics if diagnostic.severity != "warning"]
    return GraphError("\n".join(shown) or error.message, diagnostics)


def _located(diagnostic: Diagnostic, text: _Text) -> Diagnostic:
    ours = diagnostic.path is not None and not diagnostic.path.startswith("library/")
    label, place = text.places.get(diagnostic.line, (None, None)) if ours else (None, None)
    return replace(diagnostic, label=label, place=place)


def _shown_line(diagnostic: Diagnostic) -> str:
    if not diagnostic.place:
        return diagnostic.rendered.rstrip("\n")
    file, line = diagnostic.place
    about = f" (value {diagnostic.label!r})" if diagnostic.label else ""
    name = f" [{diagnostic.id}]" if diagnostic.severity == "error" else ""
    source = diagnostic.rendered.split("\n", 1)[1].rstrip("\n") if "\n" in diagnostic.rendered else ""
    return f"{file}:{line}: {diagnostic.severity}: {diagnostic.text}{about}{name}" + (f"\n{source}" if source else "")
