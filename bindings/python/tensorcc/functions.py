"""The functions of the language, read from the reference that the library prints of its own tables:
what it gains is here by itself."""
import inspect
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from .unit import reference

_ROW = re.compile(r"^\* `(\w+)\((.*)\)`(?:, (\d+) results)?$")


@dataclass(frozen=True)
class Parameter:
    name: str
    optional: bool
    text: str  # as the reference writes it: "axis?", "eps=1e-5"


@dataclass(frozen=True)
class Function:
    name: str
    parameters: Tuple[Parameter, ...]
    results: int
    meaning: str

    @property
    def signature(self) -> str:
        return f"{self.name}({', '.join(p.text for p in self.parameters)})"

    @property
    def python_signature(self) -> inspect.Signature:
        """For help(): what may be left out has the default None, which is left out."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([
            inspect.Parameter(p.name, kind, default=None if p.optional else inspect.Parameter.empty)
            for p in self.parameters])

    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> List[Tuple[Parameter, bool, Any]]:
        """Each argument with its parameter and whether it stands by position."""
        if len(args) > len(self.parameters):
            raise TypeError(f"{self.signature} takes {len(self.parameters)} arguments, {len(args)} were given")
        bound = [(parameter, True, value) for parameter, value in zip(self.parameters, args)]
        rest = {parameter.name: parameter for parameter in self.parameters[len(args):]}
        for name, value in named.items():
            if name not in rest:
                raise TypeError(f"{self.signature} takes no further argument {name!r}")
            bound.append((rest.pop(name), False, value))
        missing = [name for name, parameter in rest.items() if not parameter.optional]
        if missing:
            raise TypeError(f"{self.signature} needs {', '.join(missing)}")
        return bound


def _parameter(text: str) -> Parameter:
    name = re.match(r"\w+", text)
    assert name, text
    return Parameter(name.group(), len(text) > name.end(), text)


def _rows(page: str) -> Dict[str, Function]:
    rows: Dict[str, Function] = {}
    lines = page.splitlines()
    for line, after in zip(lines, lines[1:] + [""]):
        found = _ROW.match(line)
        if found:
            name, parameters, results = found.groups()
            meaning = after.strip() if after.startswith("  ") else ""
            rows[name] = Function(name, tuple(_parameter(p) for p in parameters.split(", ") if p),
                                  int(results or 1), meaning)
    return rows


@lru_cache(maxsize=None)
def functions() -> Mapping[str, Function]:
    """All functions by name; the library's hide built-in ones, as in the language."""
    return _rows(reference("functions"))
