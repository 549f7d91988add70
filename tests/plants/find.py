#!/usr/bin/env python3
"""find.py BUILD --bisect [NUMBER...]: asks `tcc bisect` of the planted copy which step each fault's
model goes wrong in, and compares it with what faults.txt says is at fault.

A model file has two graphs: the case, and `values` or `exact_values`, which compute its inputs."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import catch
import plant

LIMIT = 900  # seconds for one search


def run(copy, number, words, **more):
    env = dict(os.environ, TCC_PLANT=str(number))
    return subprocess.run([copy.build / "tcc", *words], cwd=copy.source, env=env, timeout=LIMIT,
                          capture_output=True, text=True, **more)


def make_inputs(copy, model, folder):
    """The options that give the case its inputs, as arrays in `folder`."""
    text = model.read_text()
    entry, outputs = re.search(r"graph @(\w*values) .*return ([^\n]*)", text, re.S).groups()
    names = re.findall(r"(\w+) = %", outputs)
    words = [f"--entry={entry}"]
    for name in names:
        words += ["-o", f"{name}={folder}/{name}.npy"]
    run(copy, 0, ["run", *words, model], check=True)
    return [word for name in names for word in ("-i", f"{name}={folder}/{name}.npy")]


def what_is_named(found):
    """In the words of faults.txt."""
    if found["agree"]:
        return "nothing"
    if found["part"] == "pass":
        return f"pass {found['pass']}"
    kernel = found["part"] in ("skeleton", "schedule", "lowering", "backend")
    return f"kernel {found['skeleton']}" if kernel else found["part"]


def find(copy, fault):
    """What is named, and the more that is said of it."""
    model = plant.HERE / "models" / f"{fault.name}.tir"
    with tempfile.TemporaryDirectory() as folder:
        words = ["bisect", model, "--entry=case", "--json", *make_inputs(copy, model, folder)]
        try:
            result = run(copy, fault.number, words)
        except subprocess.TimeoutExpired:
            return "no answer", "takes too long"
    try:
        found = json.loads(result.stdout)
    except json.JSONDecodeError:
        return "no answer", (result.stderr or "no output").splitlines()[0]
    more = [found[key] for key in ("rule", "kernel", "schedule", "what") if found[key]]
    return what_is_named(found), "; ".join(more)


def main(build, words):
    numbers = {int(w) for w in words if w.isdigit()}
    copy = catch.Copy(build)
    copy.make()
    faults = [f for f in plant.read_table() if not numbers or f.number in numbers]
    right = 0
    with concurrent.futures.ThreadPoolExecutor(catch.CORES) as pool:
        for fault, (named, more) in zip(faults, pool.map(lambda f: find(copy, f), faults)):
            good = named == fault.part
            right += good
            print(f"{fault.number:2} {fault.name} ({fault.part}): " +
                  ("named" if good else f"FAILED, named {named}") + f": {more}", flush=True)
    print(f"{right} passed, {len(faults) - right} failed")
    return right < len(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
