#!/usr/bin/env python3
"""The table of planted faults, faults.txt, and the copy of the sources that holds them.

    plant.py check          whether every right text stands in the sources exactly once
    plant.py list           number, name and part of each fault, separated by tabs
    plant.py write FOLDER   the copy; files that are there with the same text stay untouched
"""
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
HEADER = "tests/plants/plant.h"


@dataclass
class Edit:
    file: str
    function: str
    right: str
    wrong: str


@dataclass
class Fault:
    number: int
    name: str
    part: str = ""
    story: str = ""
    edits: list = field(default_factory=list)


class Wrong(Exception):
    """The table or the sources are not as they have to be."""


def read_table():
    faults, file, function, right = [], "", "", None
    for number, line in enumerate((HERE / "faults.txt").read_text().splitlines(), 1):
        word, _, rest = line.partition(" ")
        if not line or word == "#":
            continue
        if word.isdigit():
            faults.append(Fault(int(word), rest))
        elif word in ("part", "story"):
            setattr(faults[-1], word, rest)
        elif word == "file":
            file = rest
        elif word == "in":
            function = rest
        elif word == "-":
            right = rest
        elif word == "+":
            faults[-1].edits.append(Edit(file, function, right, rest))
        else:
            raise Wrong(f"faults.txt:{number}: what is {word}?")
    for at, fault in enumerate(faults, 1):
        if fault.number != at or not (fault.part and fault.story and fault.edits):
            raise Wrong(f"faults.txt: fault {at} is not there, or not whole")
    return faults


def find_function(text, name):
    """Where the definition begins and ends: from its first line to the brace in column 0."""
    begin = re.search(rf"^\w[^;={{}}]*\b{name}\([^;{{}}]*\{{", text, re.M)
    if not begin:
        return None
    line = text.rfind("\n", 0, begin.end()) + 1
    if text[line:].split("\n", 1)[0].endswith("}"):  # all on one line
        return begin.start(), text.index("\n", begin.end())
    return begin.start(), re.compile(r"^\}", re.M).search(text, begin.end()).end()


def find_text(text, begin, end, wanted):
    """The places of `wanted` in text[begin:end], white space not counted."""
    places = [i for i in range(begin, end) if not text[i].isspace()]
    bare, wanted = "".join(text[i] for i in places), re.sub(r"\s", "", wanted)
    found, at = [], bare.find(wanted)
    while at >= 0:
        found.append((places[at], places[at + len(wanted) - 1] + 1))
        at = bare.find(wanted, at + 1)
    return found


def guarded(number, edit):
    """An expression or statements that are the wrong ones for the fault's number."""
    if edit.right.endswith((";", "}")):
        return f"if (tcc_plant({number})) {{ {edit.wrong} }} else {{ {edit.right} }}"
    return f"(tcc_plant({number}) ? ({edit.wrong}) : ({edit.right}))"


def locate(text, fault, edit):
    where = f"fault {fault.number} ({fault.name}): {edit.file}"
    function = find_function(text, edit.function)
    if function is None:
        raise Wrong(f"{where} has no function {edit.function}")
    found = find_text(text, *function, edit.right)
    if len(found) != 1:
        raise Wrong(f"{where}: {edit.function} holds it {len(found)} times: {edit.right}")
    return found[0]


def planted_files(faults):
    """By name, the sources with every fault in them."""
    texts, errors = {}, []
    for fault in faults:
        for edit in fault.edits:
            text = texts.get(edit.file) or (TOP / edit.file).read_text()
            try:
                begin, end = locate(text, fault, edit)
            except Wrong as error:
                errors.append(str(error))
                continue
            texts[edit.file] = text[:begin] + guarded(fault.number, edit) + text[end:]
    if errors:
        raise Wrong("\n".join(errors))
    return {name: f'#include "{HEADER}"\n#line 1\n{text}' for name, text in texts.items()}


def is_build(folder):
    return (folder / "CMakeCache.txt").exists()


def sources():
    for folder, folders, names in os.walk(TOP):
        here = Path(folder)
        folders[:] = [f for f in folders if f not in (".git", "__pycache__") and not is_build(here / f)]
        yield from ((here / name).relative_to(TOP) for name in names)


def put(path, data, mode):
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def write(folder):
    planted = planted_files(read_table())
    kept = set()
    for name in sources():
        if folder in (TOP / name).parents:
            continue
        kept.add(name)
        text = planted.get(str(name))
        data = text.encode() if text else (TOP / name).read_bytes()
        put(folder / name, data, (TOP / name).stat().st_mode)
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        if path.relative_to(folder) not in kept and "__pycache__" not in path.parts:
            path.unlink()


def main(words):
    if words == ["check"]:
        planted_files(read_table())
    elif words == ["list"]:
        for fault in read_table():
            print(fault.number, fault.name, fault.part, sep="\t")
    elif len(words) == 2 and words[0] == "write":
        write(Path(words[1]).resolve())
    else:
        raise Wrong(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Wrong as error:
        sys.exit(str(error))
