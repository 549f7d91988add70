"""Models built call by call.

    g = tensorcc.Graph("classify")
    x = g.input("x", "f32", ["N", 784])
    h = g.linear(x, 128, scope="fc1").relu()
    g.output("probs", g.linear(h, 10, scope="fc2").softmax())
    unit = g.compile(params="random:1")

Each call is one of the compiler's (include/tcc/graph.h), which checks it at once: a value's type is
known from then on, and what is wrong is raised at the line that is wrong. All functions of the
language are methods, of the graph and of its values (which then are the first argument).
"""
import ctypes as c
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import caller, capi, dtypes
from .arrays import bind_input, typed
from .dtypes import Array, DType
from .errors import Diagnostic, GraphError, InvalidError, graph_error
from .functions import Function, functions
from .library import library
from .owner import Owner
from .sizes import Reader
from .unit import Compiler, Unit, compile_graph
from .value import Info, Size, Value

_DEFAULT_RANGE = (1, 65536)  # of dims that were not declared
_INT = range(-2**63, 2**63)


class Graph:
    """A model that is being built. It belongs to one thread at a time."""

    def __init__(self, name: str = "graph", *, dims: Optional[Mapping[str, Sequence[int]]] = None) -> None:
        self.name = str(name)
        self._told: List[Diagnostic] = []  # since the call began
        self._compiler = Compiler()
        self._listening = self._compiler.listen(self._told, [])
        self._listening.__enter__()
        pointer = capi.Pointer()
        if library().tcc_graph_new(self._compiler.pointer, capi.encoded(self.name), c.byref(pointer)):
            raise self._error()
        self._owner = Owner("graph", pointer, library().tcc_graph_free, self._compiler.owner)
        self._place: Optional[caller.Place] = None
        self._dims: Dict[str, Value] = {}
        self._params: Dict[str, DType] = {}
        self._sizes_of = Reader(self._dim_named, self._int, self._operate_ids, self._apply_ids)
        for dim, ends in (dims or {}).items():
            self.dim(dim, *ends)

    # ---- what a model is made of ----

    def dim(self, name: str, lo: int, hi: int, tune: Optional[int] = None) -> Value:
        """Declares a dim that varies within lo..hi, and is tuned for the value `tune`. The value it
        gives may stand in shapes. Names in the dims of inputs that were not declared lie in 1..65536."""
        made = self._value("tcc_graph_dim", capi.encoded(name), lo, hi, hi if tune is None else tune)
        self._dims[name] = made
        return made

    def input(self, name: str, dtype: Any, dims: Sequence[Any] = ()) -> Value:
        """An input; dims are numbers, names of dims, or expressions of these: "N + 1"."""
        sizes = _array([self._argument(dim, "shape") for dim in dims])
        return self._value("tcc_graph_input", capi.encoded(name), dtypes.of(dtype).code, sizes, len(sizes))

    def param(self, name: str, value: Any = None, dims: Optional[Sequence[int]] = None, *,
              dtype: Any = None, init: Optional[Union[int, float]] = None) -> Value:
        """A parameter by its full name: of an array, or of `dims` and `dtype` for one whose value is
        `init`, or comes with compile(weights=…) or the option params."""
        element = dtypes.of("f32" if dtype is None else dtype)
        shape = tuple(dims or ())
        if value is not None:
            array, element = typed(value, dtype)
            shape = array.shape
        elif init is not None:
            array = np.full(shape, init, element.numpy)
        if value is not None or init is not None:
            self._weight(name, array, element)
        sizes = (c.c_int64 * len(shape))(*shape)
        try:
            made = self._value("tcc_graph_param", capi.encoded(name), element.code, sizes, len(shape))
        except GraphError:
            if name not in self._params:
                self._forget(name)
            raise
        self._params[name] = element
        return made

    def constant(self, value: Any, dtype: Any = None) -> Value:
        """A tensor of an array, a list or a number. Arrays keep their dtype."""
        return self._value("tcc_graph_constant", *self._tensor(value, dtype), named=True)

    def output(self, name: str, value: Any) -> None:
        """Names an output; it has the type of its value."""
        number = self._argument(value)
        self._do("tcc_graph_output", capi.encoded(name), number)

    def call(self, function: str, *args: Any, scope: Optional[str] = None, **named: Any) -> Any:
        """Calls a function of the language by its name."""
        if function not in functions():
            raise InvalidError(f"there is no function {function!r}")
        return self._apply(functions()[function], args, named, scope)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in functions():
            raise AttributeError(f"a graph has no {name!r}: it is no function of the language")
        return self._method(functions()[name])

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *functions()]

    # ---- blocks: control that runs in the model ----

    def cond(self, condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """What `then` gives if the condition, a bool scalar, holds, else what `otherwise` gives: a
        value or a tuple of values, of the same types. Both may use all values from outside."""
        number = self._argument(condition)
        with self._block():
            self._do("tcc_graph_begin_cond", number, named=True)
            first = then()
            results = self._arguments(first)
            self._do("tcc_graph_else", results, len(results))
            return self._end(otherwise(), isinstance(first, (tuple, list)))

    def loop(self, carried: Any, condition: Callable[..., Any], body: Callable[..., Any], *, limit: int) -> Any:
        """Repeats while `condition(*carried)` holds, at most `limit` times: `body(*carried)` gives
        what the next step carries. The result is what the last one gave: as many values as `carried`,
        which is one value or a tuple."""
        starts = self._arguments(carried)
        inner = _array([0] * len(starts))
        with self._block():
            self._do("tcc_graph_begin_loop", starts, len(starts), limit, inner, named=True)
            going = self._argument(condition(*self._values(inner)))
            self._do("tcc_graph_do", going, inner)
            return self._end(body(*self._values(inner)), isinstance(carried, (tuple, list)))

    def scan(self, body: Callable[..., Any], sequences: Any, carried: Any = (), *, reverse: bool = False) -> Any:
        """Goes along axis 0 of the sequences, whose lengths are equal; from the end if `reverse`.
        `body(*carried, *slices)` gives what is carried on, then what is stacked; the result is the
        last carried values and the stacks. All may be one value or a tuple."""
        starts, along = self._arguments(carried), self._arguments(sequences)
        inner, slices = _array([0] * len(starts)), _array([0] * len(along))
        with self._block():
            self._do("tcc_graph_begin_scan", starts, len(starts), along, len(along), int(reverse), inner, slices,
                     named=True)
            results = body(*self._values(inner), *self._values(slices))
            return self._end(results, isinstance(results, (tuple, list)))

    @contextmanager
    def _block(self) -> Iterator[None]:
        """What is open when a block fails is closed."""
        depth = library().tcc_graph_depth(self._pointer)
        try:
            yield
        except BaseException:
            for _ in range(library().tcc_graph_depth(self._pointer) - depth):
                library().tcc_graph_abandon(self._pointer)
            raise

    def _end(self, results: Any, several: bool) -> Any:
        numbers = self._arguments(results)
        made = self._value("tcc_graph_end", numbers, len(numbers), named=True)
        if len(numbers) == 1:
            return (made,) if several else made
        return self._results(made, len(numbers))

    # ---- the whole ----

    def text(self) -> str:
        """What leads to the outputs as .tir (docs/ir.md), which `tensorcc.compile` takes."""
        text, size = capi.Pointer(), c.c_size_t()
        self._told.clear()
        self._check(library().tcc_graph_text(self._pointer, c.byref(text), c.byref(size)))
        return capi.text_at(text, size)

    def compile(self, *, weights: Optional[Mapping[str, Any]] = None,
                options: Optional[Mapping[str, Any]] = None, **more: Any) -> Unit:
        """Compiles what was built so far; options as those of `tensorcc.compile`. `weights` are arrays
        for the parameters of layers, by full name: {"fc1.weight": w}."""
        given: List[str] = []
        try:
            for name, value in (weights or {}).items():
                self._forget(name)
                array, element = typed(value, self._params.get(name))
                self._weight(name, array, element)
                given.append(name)
            self._enter()
            return compile_graph(self._pointer, {**(options or {}), **more}, self._told)
        finally:
            for name in given:
                self._forget(name)

    # ---- one call ----

    @property
    def _pointer(self) -> Any:
        return self._owner.pointer

    def _enter(self, named: bool = False) -> caller.Names:
        """Tells the compiler where the host is and, if `named`, what it is about to make."""
        frame = caller.frame()
        place = caller.place(frame)
        self._told.clear()
        if place != self._place:
            library().tcc_graph_place(self._pointer, capi.encoded(place[0]), place[1])
            self._place = place
        names = caller.names(frame) if named else ()
        if names:
            library().tcc_graph_label(self._pointer, capi.encoded(", ".join(names)))
        return names

    def _value(self, function: str, *arguments: Any, named: bool = False) -> Value:
        self._enter(named)
        return Value(self, self._checked(getattr(library(), function)(self._pointer, *arguments)))

    def _do(self, function: str, *arguments: Any, named: bool = False) -> None:
        self._enter(named)
        self._check(getattr(library(), function)(self._pointer, *arguments))

    def _checked(self, number: int) -> int:
        if not number:
            raise self._error()
        return number

    def _check(self, status: int) -> None:
        if status:
            raise self._error()

    def _error(self) -> GraphError:
        return graph_error(capi.decoded(library().tcc_message(self._compiler.pointer)), self._told)

    def _describe(self, number: int) -> Info:
        info = capi.ValueInfo()
        self._check(library().tcc_graph_info(self._pointer, number, c.byref(info)))
        dims = tuple(info.dims[:info.rank]) if info.dtype >= 0 else ()
        return Info(capi.decoded(info.text), capi.decoded(info.label), info.dtype, dims)

    def _rename(self, number: int, label: str) -> None:
        self._check(library().tcc_graph_rename(self._pointer, number, capi.encoded(label)))

    def _values(self, numbers: Sequence[int]) -> List[Value]:
        return [Value(self, number) for number in numbers]

    # ---- operators, functions ----

    def _operate(self, word: str, *sides: Any) -> Value:
        numbers = [self._argument(side) for side in sides]
        return self._value("tcc_graph_binary", capi.encoded(word), *numbers, named=True)

    def _negate(self, value: Value) -> Value:
        return self._value("tcc_graph_unary", b"-", value._id, named=True)

    def _member(self, value: Value, name: str) -> Value:
        return self._value("tcc_graph_member", value._id, capi.encoded(name), named=True)

    def _sizes(self, value: Value, dims: Tuple[int, ...]) -> Tuple[Size, ...]:
        shape = self._value("tcc_graph_member", value._id, b"shape")
        varying = [i for i, size in enumerate(dims) if size < 0]
        found = dict(zip(varying, self._items(shape, varying, [f"{value.label}.shape[{i}]" for i in varying])))
        return tuple(found.get(i, size) for i, size in enumerate(dims))

    def _subscript(self, value: Value, keys: Sequence[Any]) -> Value:
        numbers = _array([self._key(key) for key in keys])
        return self._value("tcc_graph_index", value._id, numbers, len(numbers), named=True)

    def _key(self, key: Any) -> int:
        if not isinstance(key, slice):
            return self._argument(key, "index")
        ends = [self._argument(end, "index") for end in (key.start, key.stop, key.step)]
        return self._checked(library().tcc_graph_slice(self._pointer, *ends))

    def _method(self, function: Function, *first: Value) -> Callable[..., Any]:
        def method(*args: Any, scope: Optional[str] = None, **named: Any) -> Any:
            return self._apply(function, (*first, *args), named, scope)

        method.__name__ = method.__qualname__ = function.name
        method.__doc__ = f"{function.signature}: {function.meaning}. `scope` prefixes its parameters."
        if not first:
            method.__signature__ = function.python_signature  # type: ignore[attr-defined]
        return method

    def _apply(self, function: Function, args: Sequence[Any], named: Mapping[str, Any] = {},
               scope: Optional[str] = None) -> Any:
        given = {name: value for name, value in named.items() if value is not None}
        bound = function.bind(args, given)
        numbers = _array([self._argument(value, parameter.name) for parameter, _, value in bound])
        names = (c.c_char_p * len(bound))(
            *(None if by_position else capi.encoded(parameter.name) for parameter, by_position, _ in bound))
        call = capi.Call(function=capi.encoded(function.name), args=c.cast(numbers, c.POINTER(capi.Value)),
                         names=c.cast(names, c.POINTER(c.c_char_p)), arg_count=len(bound),
                         scope=None if scope is None else capi.encoded(scope))
        made = self._value("tcc_graph_call", c.byref(call), named=True)
        return made if function.results == 1 else self._results(made, function.results)

    def _results(self, made: Value, count: int) -> Tuple[Value, ...]:
        names = self._enter(named=True)
        return self._items(made, range(count), names if len(names) == count else [None] * count)

    def _items(self, of: Value, indices: Iterable[int], labels: Sequence[Optional[str]]) -> Tuple[Value, ...]:
        items = []
        for i, label in zip(indices, labels):
            library().tcc_graph_label(self._pointer, None if label is None else capi.encoded(label))
            items.append(Value(self, self._checked(library().tcc_graph_item(self._pointer, of._id, i))))
        return tuple(items)

    def _operate_ids(self, word: str, sides: List[int]) -> int:
        function = library().tcc_graph_binary if len(sides) == 2 else library().tcc_graph_unary
        self._enter()
        return self._checked(function(self._pointer, capi.encoded(word), *sides))

    def _apply_ids(self, name: str, arguments: List[int]) -> int:
        self._enter()
        numbers = _array(arguments)
        return self._checked(library().tcc_graph_apply(self._pointer, capi.encoded(name), numbers, len(numbers)))

    # ---- what the host gives ----

    def _arguments(self, values: Any) -> Any:
        """One value, or a tuple or list of values."""
        several = values if isinstance(values, (tuple, list)) else (values,)
        return _array([self._argument(value) for value in several])

    def _argument(self, value: Any, role: str = "") -> int:
        """A host's value as one of the graph; `role` is the parameter's name. Texts are names where a
        dtype or a size is meant."""
        if isinstance(value, Value):
            if value._graph is not self:
                raise InvalidError(f"{value!r} belongs to another graph")
            return value._id
        if value is None:
            return self._checked(library().tcc_graph_none(self._pointer))
        if isinstance(value, DType) or role in ("to", "dtype"):
            return self._checked(library().tcc_graph_dtype(self._pointer, dtypes.of(value).code))
        if isinstance(value, str):
            return self._sizes_of.read(value) if role == "shape" else self._string(value)
        if isinstance(value, (list, tuple)):
            return self._list(value, role)
        return self._number(value)

    def _number(self, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)):
            return self._checked(library().tcc_graph_bool(self._pointer, int(value)))
        if isinstance(value, (int, np.integer)):
            return self._int(int(value))
        if isinstance(value, (float, np.floating)):
            return self._checked(library().tcc_graph_float(self._pointer, float(value)))
        if isinstance(value, np.ndarray) or hasattr(value, "__dlpack__"):
            return self._value("tcc_graph_constant", *self._tensor(value, None))._id
        raise InvalidError(f"{value!r} is nothing that the language has")

    def _int(self, value: int) -> int:
        if value not in _INT:
            raise InvalidError(f"{value} does not fit i64")
        return self._checked(library().tcc_graph_int(self._pointer, value))

    def _string(self, value: str) -> int:
        return self._checked(library().tcc_graph_string(self._pointer, capi.encoded(value)))

    def _list(self, items: Sequence[Any], role: str) -> int:
        numbers = _array([self._argument(item, role) for item in items])
        self._enter()
        return self._checked(library().tcc_graph_list(self._pointer, numbers, len(numbers)))

    def _dim_named(self, name: str) -> int:
        if name not in self._dims:
            self.dim(name, *_DEFAULT_RANGE)
        return self._dims[name]._id

    def _tensor(self, value: Any, dtype: Any) -> Tuple[Any]:
        """As an argument. The tensor must live until the call is over, as the array it looks at."""
        array, element = typed(value, dtype)
        tensor = capi.Tensor()
        tensor.held = bind_input(tensor, array, element, "constant")
        return (c.byref(tensor),)

    def _weight(self, name: str, array: Array, element: DType) -> None:
        tensor = capi.Tensor()
        held = bind_input(tensor, array, element, f"parameter {name!r}")
        self._do("tcc_graph_weight", capi.encoded(name), c.byref(tensor))
        del held

    def _forget(self, name: str) -> None:
        library().tcc_graph_weight(self._pointer, capi.encoded(name), None)


def _array(numbers: Sequence[int]) -> Any:
    return (capi.Value * len(numbers))(*numbers)
