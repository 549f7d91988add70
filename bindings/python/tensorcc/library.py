"""Finds libtensorcc and loads it once: where TENSORCC_LIBRARY says, beside this package, or where
the system's loader looks. Running a model.so (`tensorcc.load`) needs none of it."""
import ctypes
import os
from functools import lru_cache
from pathlib import Path
from typing import Iterator

from . import capi
from .errors import LibraryNotFoundError

_NAMES = ("libtensorcc.so.0", "libtensorcc.so")


def _candidates() -> Iterator[str]:
    wanted = os.environ.get("TENSORCC_LIBRARY")
    if wanted:
        yield str(Path(wanted).resolve())
        return
    for name in _NAMES:
        beside = Path(__file__).with_name(name)
        if beside.exists():
            yield str(beside)
    yield from _NAMES


@lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, with the types of its functions set."""
    reasons = []
    for path in _candidates():
        try:
            return _declared(ctypes.CDLL(path))
        except OSError as error:
            reasons.append(f"{path}: {error}")
    raise LibraryNotFoundError(
        "could not load libtensorcc: set TENSORCC_LIBRARY to the file, put it beside the package "
        f"({Path(__file__).parent}), or install it where the system's loader looks\n  "
        + "\n  ".join(reasons))


def _declared(loaded: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, *arguments) in capi.FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise OSError(f"it has no function {name}: it is not a libtensorcc of this version") from None
        function.restype, function.argtypes = result, arguments
    return loaded


def library_path() -> str:
    """The file of the loaded library, as it was asked for."""
    return library()._name


def version() -> str:
    """The version of the library: "0.1.0"."""
    return capi.decoded(library().tcc_version())
