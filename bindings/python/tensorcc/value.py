"""The values of a graph: operators, subscripts and members, as numpy's arrays have them."""
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Tuple, Union

import numpy as np

from . import dtypes
from .dtypes import DType
from .errors import InvalidError
from .functions import functions

if TYPE_CHECKING:
    from .graph import Graph

Size = Union[int, "Value"]
_Method = Callable[["Value", Any], "Value"]


class Info(NamedTuple):
    """What the compiler knows of a value."""
    text: str  # "f32[N, 3]", or what the value is: "N + 1", "f16"
    label: str
    dtype: int
    dims: Tuple[int, ...]  # -1 for those that vary

    @property
    def is_tensor(self) -> bool:
        return self.dtype >= 0 and self.text.endswith("]")


def _infix(word: str) -> Tuple[_Method, _Method]:
    """x.__op__(y) and x.__rop__(y) of an operator of the language."""
    return (lambda self, other: self._graph._operate(word, self, other),
            lambda self, other: self._graph._operate(word, other, self))


def _function(name: str) -> Tuple[_Method, _Method]:
    """The same of a function."""
    return (lambda self, other: self._graph._apply(functions()[name], (self, other)),
            lambda self, other: self._graph._apply(functions()[name], (other, self)))


class Value:
    """A value of a graph: a tensor, or what is known while the graph is built, like a dim."""
    __slots__ = ("_graph", "_id", "_known", "__weakref__")
    __array_ufunc__ = None  # numpy's arrays leave operators to us
    __iter__ = None  # a value has no length that is known here

    def __init__(self, graph: "Graph", number: int) -> None:
        self._graph, self._id = graph, number
        self._known: Union[Info, None] = None

    # ---- what it is ----

    @property
    def _info(self) -> Info:
        if self._known is None:
            self._known = self._graph._describe(self._id)
        return self._known

    @property
    def label(self) -> str:
        """What messages call it."""
        return self._info.label

    def named(self, label: str) -> "Value":
        """Labels the value, for messages. Returns it."""
        self._graph._rename(self._id, str(label))
        self._known = None
        return self

    @property
    def shape(self) -> Tuple[Size, ...]:
        """Numbers, and values where a dim varies."""
        info = self._info
        if info.is_tensor and -1 not in info.dims:
            return info.dims
        return self._graph._sizes(self, info.dims)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        if not self._info.is_tensor:
            raise InvalidError(f"{self!r} is no tensor: it has no dtype")
        return dtypes.ALL[self._info.dtype]

    @property
    def T(self) -> "Value":
        """With the last two axes swapped."""
        return self._graph._member(self, "T")

    def astype(self, dtype: dtypes.DTypeLike) -> "Value":
        made: Value = self._graph._apply(functions()["cast"], (self, dtype))
        return made

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or name not in functions():
            raise AttributeError(f"a value has no {name!r}: it is no function of the language")
        return self._graph._method(functions()[name], self)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *functions()]

    def __repr__(self) -> str:
        return f"<tensorcc.Value {self._info.label}: {self._info.text}>"

    def __bool__(self) -> bool:
        if self._info.text in ("true", "false"):
            return self._info.text == "true"
        raise TypeError("a value of a graph is not known while it is built: use select(c, x, y), or cond")

    def __index__(self) -> int:
        try:
            return int(self._info.text)
        except ValueError:
            raise TypeError(f"{self!r} is no number that is known while the graph is built") from None

    __hash__ = object.__hash__

    # ---- operators ----

    __add__, __radd__ = _infix("+")
    __sub__, __rsub__ = _infix("-")
    __mul__, __rmul__ = _infix("*")
    __truediv__, __rtruediv__ = _infix("/")
    __floordiv__, __rfloordiv__ = _infix("//")
    __mod__, __rmod__ = _infix("%")
    __pow__, __rpow__ = _infix("**")
    __matmul__, __rmatmul__ = _infix("@")
    __and__, __rand__ = _function("bit_and")
    __or__, __ror__ = _function("bit_or")
    __xor__, __rxor__ = _function("bit_xor")
    __lshift__, __rlshift__ = _function("shift_left")
    __rshift__, __rrshift__ = _function("shift_right")
    __lt__, __gt__ = _infix("<")[0], _infix(">")[0]
    __le__, __ge__ = _infix("<=")[0], _infix(">=")[0]
    __eq__, __ne__ = _infix("==")[0], _infix("!=")[0]  # type: ignore[assignment]

    def __neg__(self) -> "Value":
        return self._graph._negate(self)

    def __pos__(self) -> "Value":
        return self

    def __abs__(self) -> "Value":
        made: Value = self._graph._apply(functions()["abs"], (self,))
        return made

    def __invert__(self) -> "Value":
        made: Value = self._graph._apply(functions()["bit_not"], (self,))
        return made

    # ---- subscripts ----

    def __getitem__(self, key: Any) -> "Value":
        """Indices, slices, None and `...`; one tensor or array of whole numbers among slices picks
        along its axis."""
        keys = _spread(self, key if isinstance(key, tuple) else (key,))
        arrays = [i for i, item in enumerate(keys) if _is_array(item)]
        if not arrays:
            return self._graph._subscript(self, keys)
        return self._pick(keys, arrays)

    def _pick(self, keys: Tuple[Any, ...], arrays: List[int]) -> "Value":
        at = arrays[0]
        if len(arrays) > 1 or any(not isinstance(k, slice) and k is not None for k in keys[:at] + keys[at + 1:]):
            raise InvalidError("beside an array subscripts are slices, None and ...: use gather for more")
        chosen = keys[:at] + (slice(None),) + keys[at + 1:]
        plain = all(item == slice(None) for item in chosen)
        part = self if plain else self._graph._subscript(self, chosen)
        made: Value = self._graph._apply(functions()["gather"], (part, keys[at]), {"axis": at})
        return made


def _is_array(item: Any) -> bool:
    if isinstance(item, Value):
        return item._info.is_tensor
    return isinstance(item, (list, np.ndarray)) or hasattr(item, "__dlpack__") and not np.isscalar(item)


def _spread(value: Value, keys: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """With slices in the place of `...`."""
    at = [i for i, item in enumerate(keys) if item is Ellipsis]
    if not at:
        return keys
    if len(at) > 1:
        raise InvalidError("subscripts have one ... at most")
    taken = sum(item is not None for item in keys) - 1
    whole = (slice(None),) * max(value.ndim - taken, 0)
    return keys[:at[0]] + whole + keys[at[0] + 1:]
