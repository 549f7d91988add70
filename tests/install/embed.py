"""What the programs of examples/embed print, against arithmetic in Python.

    embed.py columns sales.csv OUTPUT.csv 'NAME = FORMULA'...    formulas are Python expressions too
    embed.py serve OUTPUT
"""
import csv
import math
import sys

FUNCTIONS = {"sqrt": math.sqrt, "exp": math.exp, "log": math.log, "maximum": max, "minimum": min, "abs": abs}


def columns(table, output, *formulas):
    rows = [{name: float(text) for name, text in row.items()} for row in csv.DictReader(open(table))]
    got = list(csv.DictReader(open(output)))
    assert len(got) == len(rows), f"{len(got)} rows, not {len(rows)}"
    for formula in formulas:
        name, text = (part.strip() for part in formula.split("=", 1))
        for i, row in enumerate(rows):
            want, have = float(eval(text, {**FUNCTIONS, **row})), float(got[i][name])
            assert math.isclose(want, have, rel_tol=1e-9, abs_tol=1e-12), f"{name}, row {i}: {have}, not {want}"


def job_sum(job):
    x = [(i * 7 + job) % 11 - 5 for i in range(1 + job % 100)]
    if job % 3 == 0:
        return sum(v * v * 0.5 - v + 2 for v in x)
    return sum(v * v for v in x) if job % 3 == 1 else x[-1] - x[0]


def serve(output):
    lines = [line.split() for line in open(output)]
    assert len(lines) == 600
    for job, line in enumerate(lines):
        want = job_sum(job)
        assert [int(line[0]), float(line[1])] == [job, want], f"job {job}: {line}, not {want}"


{"columns": columns, "serve": serve}[sys.argv[1]](*sys.argv[2:])
