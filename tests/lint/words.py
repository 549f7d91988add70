#!/usr/bin/env python3
"""What no file of ours may hold: folders and package hosts of somebody's machine, unfinished work,
tabs and trailing blanks, ways to end the host's process in the library."""
import re
import sys
from pathlib import Path

TEXT = {".c", ".h", ".def", ".l", ".y", ".g", ".tir", ".py", ".sh", ".md", ".txt", ".cmake", ".map",
        ".in", ""}
CODE = {".c", ".h", ".def", ".l", ".y"}
LIBRARY = {"base", "ir", "frontend", "passes", "codegen", "runtime", "autotune", "compiler"}

# The brackets keep this file from finding itself.
ANYWHERE = [
    (re.compile(r"(?<![\w.])/(work|home|Users|tmp/h)/\w"), "a folder of one machine"),
    (re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b"), "unfinished work"),
    (re.compile(r"\b(st[u]b(s|bed)?|for no[w]|hard-?code[d])\b", re.I), "unfinished work"),
    (re.compile(r"\b(pyp[i]|pythonhoste[d]|anacond[a]|npmj[s]|artifactor[y])\b|\bcrates\.i[o]\b|debian\.or[g]",
                re.I), "a package host"),
]
IN_CODE = [
    (re.compile(r"\t"), "a tab"),
    (re.compile(r"\s$"), "a trailing blank"),
]
IN_LIBRARY = [
    (re.compile(r"\b(exit|_exit|_Exit|quick_exit|abort|assert)\s*\("), "an end of the host's process"),
    (re.compile(r"\b(printf|puts|putchar|perror)\s*\("), "output of the library's own"),
]
# base/guard.c: a raise that no guard catches happens in tests and tools alone; the library's edge has one.
MAY_END = {"base/guard.c"}
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//.*|/\*.*?(\*/|$)|^\s*\*.*')


MAX_COLUMNS = 100  # of .c and .h: rows of tables may be longer


def faults(path):
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return
    code = path.suffix in CODE
    for number, line in enumerate(lines, 1):
        rules = ANYWHERE + (IN_CODE if code else [])
        hits = [what for rule, what in rules if rule.search(line)]
        if path.suffix in {".c", ".h"} and len(line) > MAX_COLUMNS:
            hits.append("over 100 columns")
        if code and path.parts[0] in LIBRARY:
            bare = STRING_OR_COMMENT.sub("", line)
            rules = [] if str(path) in MAY_END else IN_LIBRARY
            hits += [what for rule, what in rules if rule.search(bare)]
        for what in hits:
            yield f"{path}:{number}: {what}: {line.strip()[:80]}"


def sources():
    for path in sorted(Path(".").rglob("*")):
        hidden = path.parts[0].startswith("build") or path.parts[0] == ".git"
        if path.is_file() and not hidden and path.suffix in TEXT:
            yield path


bad = [fault for path in sources() for fault in faults(path)]
print("\n".join(bad))
sys.exit(1 if bad else 0)
