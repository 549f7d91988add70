#!/usr/bin/env python3
"""The include rule: which folder may see which. Fails on any #include that the tables do not allow."""
import os
import re
import sys
from pathlib import Path

# Folder -> the folders it may name. A value ending in .h is that one header.
MAY = {
    "include": [],
    "base": ["base"],
    "ir": ["ir", "base"],
    "frontend": ["frontend", "ir", "base"],
    "passes": ["passes", "ir", "base"],
    # The runtime's data formats, which code generation writes and the runtime reads, and no more.
    "codegen": ["codegen", "ir", "base", "runtime/abi.h", "runtime/abi_gpu.h", "runtime/image.h",
                "runtime/expr.h", "runtime/features.h"],
    "runtime": ["runtime", "include"],
    "autotune": ["autotune", "ir", "base", "codegen", "runtime"],
    "emulator": ["emulator", "base"],
    "compiler": ["compiler", "base", "ir", "frontend", "passes", "codegen", "runtime", "autotune", "include"],
    "driver": ["driver", "include"],
    "examples": ["examples", "include"],
    "bindings": ["bindings", "include"],
    "tests": ["tests", "base", "ir", "frontend", "passes", "codegen", "runtime", "autotune",
              "emulator", "compiler", "include"],
}

# Headers of other projects -> the folders that may use them.
LIBRARIES = {
    "llvm-c/": ["codegen", "tests"],
    "jansson.h": ["frontend", "tests"],
    "malloc.h": ["tests"],
    "zstd.h": ["frontend", "codegen", "compiler", "tests"],
    "zlib.h": ["frontend", "tests"],
}

# What every folder may use: C11, POSIX, and the processor.
SYSTEM = set("""
assert complex ctype errno execinfo fenv float inttypes iso646 limits locale math setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time
dirent dlfcn elf fcntl ftw getopt libgen link poll pthread sched semaphore spawn unistd wchar
cpuid immintrin
""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SUFFIXES = {".c", ".h", ".def", ".l", ".y"}


def resolve(path, name):
    """The file that the quoted name means, relative to the top folder."""
    beside = path.parent / name
    return os.path.normpath(beside) if beside.exists() else name


def library_allows(top, name):
    for prefix, folders in LIBRARIES.items():
        if name == prefix or (prefix.endswith("/") and name.startswith(prefix)):
            return top in folders
    return name.removesuffix(".h") in SYSTEM or name.startswith(("sys/", "linux/", "asm/", "sanitizer/"))


def folder_allows(top, target):
    return any(target == may or target.startswith(may + "/") for may in MAY[top])


def faults(path):
    top = path.parts[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, name = found.groups()
        if name.startswith("tcc/"):
            good = top == "include" or folder_allows(top, "include/" + name)
        elif quote == '"':
            good = folder_allows(top, resolve(path, name))
        else:
            good = library_allows(top, name)
        if not good:
            yield f"{path}:{number}: {top}/ may not include {name}"


def sources():
    for top in MAY:
        for path in sorted(Path(top).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def main():
    bad = [fault for path in sources() for fault in faults(path)]
    unknown = [f"{path}: the include rule does not know this folder" for path in Path(".").glob("*/*.[ch]")
               if path.parts[0] not in MAY and not path.parts[0].startswith("build")]
    print("\n".join(bad + unknown))
    sys.exit(1 if bad or unknown else 0)


if __name__ == "__main__":
    main()
