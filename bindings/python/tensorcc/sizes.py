"""Dims that are written as texts: "N", "2 * N + 1", "min(N, 8)"."""
import ast
from typing import Callable, List

from .errors import InvalidError

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}


class Reader:
    """Makes the values of a graph from the parts of a text; each is given as a number."""

    def __init__(self, name: Callable[[str], int], number: Callable[[int], int],
                 operate: Callable[[str, List[int]], int], apply: Callable[[str, List[int]], int]) -> None:
        self._name, self._number, self._operate, self._apply = name, number, operate, apply

    def read(self, text: str) -> int:
        try:
            return self._value(ast.parse(text.strip(), mode="eval").body, text)
        except (SyntaxError, RecursionError, MemoryError):
            raise InvalidError(f"{text!r} is no size: names of dims, numbers, + - * // %") from None

    def _value(self, tree: ast.expr, text: str) -> int:
        if isinstance(tree, ast.Name):
            return self._name(tree.id)
        if isinstance(tree, ast.Constant) and type(tree.value) is int:
            return self._number(tree.value)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return self._operate("-", [self._value(tree.operand, text)])
        if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
            sides = [self._value(side, text) for side in (tree.left, tree.right)]
            return self._operate(_OPERATORS[type(tree.op)], sides)
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
            return self._apply(tree.func.id, [self._value(item, text) for item in tree.args])
        raise SyntaxError(text)
