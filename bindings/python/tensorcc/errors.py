"""What can go wrong: one exception a status of the C API, with the diagnostics' texts and places."""
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type

_ID = re.compile(r" \[([a-z0-9-]+)\]\s*$")


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler. `line` and `column` count from 1; 0 is the whole input."""
    severity: str  # "note", "warning" or "error"
    id: str  # stable: "unknown-name"
    path: Optional[str]
    line: int
    column: int
    text: str  # one line
    rendered: str  # with place, source line and caret
    label: Optional[str] = None  # of a Graph: the host's name of the value it is about

    @property
    def place(self) -> Optional[Tuple[str, int]]:
        """Of a Graph: the file and line of the call that made the value."""
        return (self.path, self.line) if self.label is not None and self.path and self.line else None


class Error(Exception):
    """The base of all; `status` is the number of the C API."""
    status = 0

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics: List[Diagnostic] = list(diagnostics)

    def __str__(self) -> str:
        return self.message

    @property
    def id(self) -> Optional[str]:
        """The stable id of the first error: "dim-range"."""
        for diagnostic in self.diagnostics:
            if diagnostic.severity == "error":
                return diagnostic.id
        found = _ID.search(self.message)
        return found.group(1) if found else None


class InvalidError(Error, ValueError):
    """An argument, a tensor or a model is wrong."""
    status = 1


class GraphError(InvalidError):
    """A call on a Graph is wrong: raised there, with the host's own labels and lines."""


class EnvironmentError(Error, OSError):
    """A file, a library or the processor: could not."""
    status = 2


class LibraryNotFoundError(EnvironmentError):
    """libtensorcc.so was not found."""


class OutOfMemoryError(Error, MemoryError):
    status = 3


class InternalError(Error, RuntimeError):
    """A bug in tcc; the process is unharmed."""
    status = 4


class MismatchError(Error):
    """A check failed; `results` are those of Unit.check."""
    status = 5
    results: List[Any] = []


class IndexOutOfRangeError(Error, IndexError):
    """An index in the model's data was out of range; the outputs are not to be used."""
    status = 6


_BY_STATUS: Dict[int, Type[Error]] = {
    kind.status: kind
    for kind in (InvalidError, EnvironmentError, OutOfMemoryError, InternalError, MismatchError,
                 IndexOutOfRangeError)
}


def _shown(message: str, diagnostics: Sequence[Diagnostic]) -> str:
    """Errors with places are shown as the command prints them."""
    return "".join(d.rendered for d in diagnostics if d.severity != "warning").rstrip("\n") or message


def error_of(status: int, message: str, diagnostics: Sequence[Diagnostic] = ()) -> Error:
    """The exception of a status."""
    return _BY_STATUS.get(status, InternalError)(_shown(message, diagnostics), diagnostics)


def graph_error(message: str, diagnostics: Sequence[Diagnostic]) -> GraphError:
    return GraphError(_shown(message, diagnostics), diagnostics)
