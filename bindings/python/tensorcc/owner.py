"""Handles of the C API that free themselves, in any order that is safe.

An Owner holds one pointer and what must outlive it: other owners, which its finalizer keeps alive
until the pointer is freed. Letting go of all names for it, close(), and the interpreter's end free
it once.
"""
import weakref
from typing import Any, Callable, Tuple

from .errors import InvalidError


def _free(free: Callable[[Any], None], pointer: Any, keeps: Tuple[Any, ...]) -> None:
    free(pointer)


class Owner:
    __slots__ = ("_pointer", "_what", "_finalizer", "__weakref__")

    def __init__(self, what: str, pointer: Any, free: Callable[[Any], None], *keeps: Any) -> None:
        self._what, self._pointer = what, pointer
        self._finalizer = weakref.finalize(self, _free, free, pointer, keeps)

    @property
    def pointer(self) -> Any:
        if not self._finalizer.alive:
            raise InvalidError(f"the {self._what} is closed")
        return self._pointer

    def close(self) -> None:
        self._finalizer()
