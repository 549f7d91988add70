"""Where the host is, and what it is about to call a value: `h = x @ w` makes a value named h.

The names come from the caller's bytecode, so that nothing need be said twice: what a call's result
is stored to, at once, is its label; so is the constant of a `.named("…")` right behind it.
"""
import dis
import sys
from bisect import bisect_right
from functools import lru_cache
from types import CodeType, FrameType
from typing import List, Tuple

Place = Tuple[str, int]
Names = Tuple[str, ...]

_PACKAGE = __name__.partition(".")[0]
_BETWEEN = frozenset(("CACHE", "PRECALL", "EXTENDED_ARG", "NOP", "COPY", "DUP_TOP"))
_STORES = frozenset(("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR"))
_TWO_STORES = "STORE_FAST_STORE_FAST"  # of newer versions, as is a store and a load in one


def frame() -> FrameType:
    """The first frame outside this package."""
    found = sys._getframe(1)
    while found.f_back and found.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        found = found.f_back
    return found


def place(of: FrameType) -> Place:
    return of.f_code.co_filename, of.f_lineno


def names(of: FrameType) -> Names:
    """What the results of the call that the frame is in are called; () when that is not known."""
    offsets, found = _names_of(of.f_code)
    at = bisect_right(offsets, of.f_lasti) - 1
    return found[at] if at >= 0 else ()


@lru_cache(maxsize=4096)
def _names_of(code: CodeType) -> Tuple[List[int], List[Names]]:
    rows = [row for row in dis.get_instructions(code) if row.opname not in _BETWEEN]
    return [row.offset for row in rows], [_names_at(rows, i + 1) for i in range(len(rows))]


def _names_at(rows: List[dis.Instruction], at: int) -> Names:
    """What is done with the value on top of the stack from `at` on."""
    if at >= len(rows):
        return ()
    row = rows[at]
    if row.opname == "UNPACK_SEQUENCE":
        return _unpacked(rows, at + 1, int(row.argval))
    if row.opname in ("LOAD_METHOD", "LOAD_ATTR") and row.argval == "named":
        given = rows[at + 1] if at + 1 < len(rows) else row
        return (given.argval,) if given.opname == "LOAD_CONST" and isinstance(given.argval, str) else ()
    if row.opname.startswith("LOAD_") and at + 1 < len(rows) and rows[at + 1].opname == "STORE_ATTR":
        return (str(rows[at + 1].argval),)
    return _stored(row)[:1]


def _stored(row: dis.Instruction) -> Names:
    if row.opname in _STORES:
        return (str(row.argval),)
    if row.opname == _TWO_STORES:
        return tuple(map(str, row.argval))
    return (str(row.argval[0]),) if row.opname == "STORE_FAST_LOAD_FAST" else ()


def _unpacked(rows: List[dis.Instruction], at: int, count: int) -> Names:
    found: Names = ()
    while len(found) < count and at < len(rows) and _stored(rows[at]):
        found += _stored(rows[at])
        at += 1
    return found if len(found) == count else ()
