"""Models that are ready to run, and their sessions."""
import _ctypes
import ctypes as c
import json
import os
from collections import deque
from dataclasses import dataclass
from threading import Lock
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import capi, dtypes
from .arrays import OutputBinding, bind_input
from .dtypes import Array, DType
from .errors import EnvironmentError, InvalidError, error_of
from .owner import Owner


@dataclass(frozen=True)
class Dim:
    """A dim that varies. The name of an output's is an expression: "N + 1"."""
    name: str
    lo: int
    hi: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Port:
    """An input or output."""
    name: str
    dtype: DType
    dims: Tuple[Union[int, Dim], ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True)
class RunInfo:
    """What the last run of a session used."""
    bucket: int
    planned_bytes: int
    arena_bytes: int
    scratch_bytes: int
    launches: int


class Outputs(Tuple[Any, ...]):
    """The arrays of a run in order, and by name: `probs, best = y`, `y["probs"]`, `y.probs`."""
    _names: Tuple[str, ...]

    def __new__(cls, names: Sequence[str], arrays: Sequence[Array]) -> "Outputs":
        outputs = super().__new__(cls, arrays)
        outputs._names = tuple(names)
        return outputs

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._names:
                raise KeyError(key)
            key = self._names.index(key)
        return super().__getitem__(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._names:
            raise AttributeError(name)
        return self[name]

    def keys(self) -> Tuple[str, ...]:
        return self._names

    def asdict(self) -> Dict[str, Array]:
        return dict(zip(self._names, self))

    def __repr__(self) -> str:
        return f"Outputs({self.asdict()!r})"


def _port(function: Any, model: Any, index: int) -> Port:
    raw = capi.Port()
    status = function(model, index, c.byref(raw))
    if status:
        raise error_of(status, f"port {index} cannot be read")
    dims = tuple(Dim(raw.dim_names[i].decode(), raw.lo[i], raw.hi[i]) if raw.dim_names[i] else raw.dims[i]
                 for i in range(raw.rank))
    return Port(raw.name.decode(), dtypes.ALL[raw.dtype], dims)


def _ordered(kind: str, ports: Sequence[Port], args: Sequence[Any], named: Mapping[str, Any]) -> List[Any]:
    """One value a port, by position and then by name; None where there is none."""
    if len(args) > len(ports):
        raise TypeError(f"the model has {len(ports)} {kind}s, {len(args)} were given")
    values = list(args) + [None] * (len(ports) - len(args))
    places = {port.name: i for i, port in enumerate(ports)}
    for name, value in named.items():
        if name not in places:
            raise TypeError(f"the model has no {kind} {name!r}: it has {', '.join(places) or 'none'}")
        if places[name] < len(args):
            raise TypeError(f"{kind} {name!r} was given twice")
        values[places[name]] = value
    return values


def bind_inputs(ports: Sequence[Port], args: Sequence[Any], named: Mapping[str, Any]) -> Tuple[Any, List[Array]]:
    """Tensors for all inputs, and the arrays that must live as long as they do."""
    values = _ordered("input", ports, args, named)
    missing = [port.name for port, value in zip(ports, values) if value is None]
    if missing:
        raise TypeError(f"no value for input {', '.join(map(repr, missing))}")
    tensors = (capi.Tensor * max(len(ports), 1))()
    arrays = [bind_input(tensors[i], value, port.dtype, f"input {port.name!r}")
              for i, (port, value) in enumerate(zip(ports, values))]
    return tensors, arrays


def _given_outputs(ports: Sequence[Port], out: Any) -> List[Any]:
    if out is None:
        return [None] * len(ports)
    if isinstance(out, Outputs):
        out = tuple(out)
    if isinstance(out, Mapping):
        return _ordered("output", ports, (), out)
    return _ordered("output", ports, out if isinstance(out, (tuple, list)) else (out,), {})


class Session:
    """The memory of a run. It serves one call at a time: a second waits. Make one a thread."""

    def __init__(self, model: "Model") -> None:
        # No reference to the model itself, which keeps idle sessions: there shall be no cycle.
        self._api, self._inputs, self._outputs = model._api, model.inputs, model.outputs
        pointer = capi.Pointer()
        status = self._api.session_new(model._owner.pointer, c.byref(pointer))
        if status:
            raise error_of(status, "no session could be made")
        self._owner = Owner("session", pointer, self._api.session_free, model._owner, *model._keeps)
        self._lock = Lock()

    def __call__(self, /, *args: Any, out: Any = None, **inputs: Any) -> Outputs:
        """Runs the model on arrays by position or by name. `out` takes arrays that the outputs are
        written to: one, a sequence in order, or a mapping by name; None makes a new one."""
        return self.run(args, inputs, out)

    def run(self, args: Sequence[Any] = (), named: Mapping[str, Any] = {}, out: Any = None) -> Outputs:
        """The same with the inputs as a sequence and a mapping, for inputs named "out"."""
        ports = self._outputs
        tensors, arrays = bind_inputs(self._inputs, args, named)
        given = _given_outputs(ports, out)
        with self._lock:
            bindings, results = self._bind_outputs(tensors, given)
            self._check(self._api.run(self._owner.pointer, tensors, len(arrays), results, len(ports)))
        return Outputs([port.name for port in ports], [binding.finish() for binding in bindings])

    def _bind_outputs(self, tensors: Any, given: List[Any]) -> Tuple[List[OutputBinding], Any]:
        ports = self._outputs
        results = (capi.Tensor * max(len(ports), 1))()
        bindings = [OutputBinding(results[i], given[i], port.dtype, self._shape(tensors, i),
                                  f"output {port.name!r}") for i, port in enumerate(ports)]
        return bindings, results

    def _shape(self, tensors: Any, index: int) -> Tuple[int, ...]:
        dims = (c.c_int64 * capi.MAX_RANK)()
        self._check(self._api.output_dims(self._owner.pointer, tensors, len(self._inputs), index, dims))
        return tuple(dims[:len(self._outputs[index].dims)])

    def _check(self, status: int) -> None:
        if status:
            raise error_of(status, capi.decoded(self._api.session_message(self._owner.pointer)))

    @property
    def info(self) -> RunInfo:
        raw = capi.RunInfo()
        with self._lock:
            self._check(self._api.run_info(self._owner.pointer, c.byref(raw)))
        return RunInfo(raw.bucket, raw.planned_bytes, raw.arena_bytes, raw.scratch_bytes, raw.launches)

    def close(self) -> None:
        with self._lock:
            self._owner.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class Model:
    """A compiled model. It never changes; any number of threads may call it at once, each with a
    session of its own behind the scenes."""

    def __init__(self, api: Any, pointer: Any, *keeps: Any) -> None:
        self._api, self._keeps = api, keeps
        self._owner = Owner("model", pointer, api.close, *keeps)
        self._idle: "deque[Session]" = deque()
        self.inputs = tuple(self._ports(api.input_count, api.input_port))
        self.outputs = tuple(self._ports(api.output_count, api.output_port))

    def _ports(self, count: Any, port: Any) -> Iterator[Port]:
        for index in range(count(self._owner.pointer)):
            yield _port(port, self._owner.pointer, index)

    @property
    def metadata(self) -> Dict[str, Any]:
        """What docs/artefact.md describes: interface, dims, versions, targets, kernels."""
        size = c.c_size_t()
        text = self._api.metadata(self._owner.pointer, c.byref(size))
        metadata: Dict[str, Any] = json.loads(c.string_at(text, size.value))
        return metadata

    def session(self) -> Session:
        return Session(self)

    def __call__(self, /, *args: Any, out: Any = None, **inputs: Any) -> Outputs:
        """As a session's call."""
        self._owner.pointer  # says so when the model is closed
        try:
            session = self._idle.pop()
        except IndexError:
            session = Session(self)
        try:
            return session.run(args, inputs, out)
        finally:
            self._idle.append(session)

    def close(self) -> None:
        """Lets go of the model; its sessions go on until they are closed."""
        while self._idle:
            self._idle.pop().close()
        self._owner.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        ports = [", ".join(map(str, side)) for side in (self.inputs, self.outputs)]
        return f"<tensorcc.Model ({ports[0]}) -> ({ports[1]})>"


def open_options(threads: int, device: Optional[str]) -> capi.OpenOptions:
    return capi.OpenOptions(threads=threads, device=None if device is None else capi.encoded(device))


def load(path: Union[str, "os.PathLike[str]"], *, threads: int = 0, device: Optional[str] = None) -> Model:
    """Opens a model.so. `threads` share the work of a run: 0 is one a core, 1 the caller's alone. `device`
    is "cpu" (None too), "cuda", "emu" or "auto", as in tcc/model.h."""
    path = os.path.abspath(os.fspath(path))
    try:
        loaded = c.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise EnvironmentError(f"could not load {path}: {error}") from None
    owner = Owner("library", loaded._handle, _ctypes.dlclose)
    try:
        get = loaded.tcc_model_get_api
    except AttributeError:
        raise InvalidError(f"{path} is no compiled model: it has no tcc_model_get_api") from None
    get.restype, get.argtypes = c.POINTER(capi.ModelApi), [c.c_uint32]
    table = get(capi.MODEL_API_VERSION)
    if not table:
        raise InvalidError(f"{path} does not know version {capi.MODEL_API_VERSION} of the interface")
    pointer, message = capi.Pointer(), c.create_string_buffer(1024)
    status = table.contents.open(c.byref(open_options(threads, device)), c.byref(pointer), message, len(message))
    if status:
        raise error_of(status, capi.decoded(message.value))
    return Model(table.contents, pointer, owner)
