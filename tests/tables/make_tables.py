#!/usr/bin/env python3
"""Writes the tables that tests/unit/eval_tables.c reads: NAME.txt beside this file. Needs numpy, mpmath and
ml_dtypes; the tables are committed, so that the tests need none of them. See contract.py."""
import itertools
import math
import random
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np

from contract import *

rows = {}
family = None


def open_family(name):
    global family
    family = rows.setdefault(name, [])
    random.seed(name)


def row(name, op, attrs, args, results, flags=""):
    text = " ".join(f"{k}={','.join(map(str, v)) if isinstance(v, (list, tuple)) else v}" for k, v in attrs.items())
    family.append("|".join([name, op, text, " ".join(map(str, args)), " ".join(map(str, results)), flags]))


# ---- inputs ------------------------------------------------------------------------------------------

def specials(d, n=0):
    """Values that matter, then n random ones."""
    if d == "bool":
        return [0, 1]
    if d in INTS:
        lo, hi = int_range(d)
        values = [lo, lo + 1, -1, 0, 1, 2, 3, 7, hi - 1, hi] + [random.randint(lo, hi) for _ in range(n)]
        return sorted({v for v in values if lo <= v <= hi})
    p, least, most, saturates, _ = FLOATS[d]
    tiny = 2.0 ** least
    values = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, 3.0, most, -most, tiny,
              tiny * 2.0 ** (1 - p), -3 * tiny * 2.0 ** (1 - p), 88.75, -104.0, 7.0]
    values += [random.choice([-1, 1]) * 2 ** random.uniform(-12, 8) for _ in range(n)]
    seen, out = set(), []
    for v in values:
        v = cast(d, v)
        key = (str(v), math.copysign(1, v))
        if key not in seen:
            seen.add(key)
            out.append(v)
    return out


def numbers(d, n, span=8):
    """Ordinary values, whose sums and products are exact in the accumulator."""
    if d == "bool":
        return [random.randint(0, 1) for _ in range(n)]
    if d in INTS:
        lo, hi = int_range(d)
        return [random.randint(max(lo, -span), min(hi, span)) for _ in range(n)]
    return [cast(d, random.randint(-4 * span, 4 * span) / 4) for _ in range(n)]


def some(d, shape, span=8):
    return T(d, shape, numbers(d, math.prod(shape), span))


# The sets of ops.def: 4-bit integers are moved, cast and selected, not computed with.
WHOLE = [d for d in INTS if INTS[d][0] > 4]
NUMBERS = list(FLOATS) + WHOLE
ALL = ["bool"] + NUMBERS
BITS = ["bool"] + WHOLE
ANY = ["bool"] + list(FLOATS) + list(INTS)
EMPTY_AND_SCALAR = [(0,), (3, 0), ()]

# ---- element-wise -------------------------------------------------------------------------------------

FLOAT_UNARY = ["neg", "abs", "sign", "floor", "ceil", "trunc", "round"] + list(TRANSCENDENTAL)
EXACT_UNARY = FLOAT_UNARY[:7] + ["sqrt"]


def float_unary(op, d, values):
    return [compute(d, unary(op, x)) for x in values]


def make_unary():
    open_family("unary")
    for op in FLOAT_UNARY:
        for d in FLOATS:
            values = specials(d, 30) + ([cast(d, v) for v in (1e4, -1e22, 11.0, -13.25, 6.5)])
            flags = "~" if d == "f64" and op not in EXACT_UNARY else ""
            row("specials", op, {}, [T(d, [len(values)], values)], [T(d, [len(values)], float_unary(op, d, values))], flags)
    for op in ["neg", "abs", "sign", "not"]:
        for d in BITS if op == "not" else WHOLE:
            values = specials(d, 5)
            row("specials", op, {}, [T(d, [len(values)], values)],
                [T(d, [len(values)], [int_unary(d, op, v) for v in values])])
    for op, d, shape in itertools.product(["exp", "neg"], ["f32", "bf16"], EMPTY_AND_SCALAR):
        x = some(d, shape)
        row("shapes", op, {}, [x], [T(d, shape, float_unary(op, d, x.v))])


def pairs(d):
    values = specials(d, 2)
    if d in FLOATS:  # zeros, infinities, NaN, ones, halves, the extremes, two random ones
        values = values[:8] + values[10:11] + values[12:17] + values[-2:]
    grid = list(itertools.product(values, values))
    return [a for a, _ in grid], [b for _, b in grid]


def powers(d):
    """Exponents at the ends of integer types, of bases whose powers are exact."""
    bases = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5]
    ends = [sign * 2.0 ** bits for bits in (31, 53, 63, 64) for sign in (1, -1)]
    grid = list(itertools.product(bases, sorted({cast(d, e) for e in ends})))
    return [a for a, _ in grid], [b for _, b in grid]


def make_binary():
    open_family("binary")
    for op in FLOAT_BINARY:
        for d in FLOATS:
            x, y = pairs(d)
            out = [compute(d, FLOAT_BINARY[op](a, b)) for a, b in zip(x, y)]
            flags = "~" if d == "f64" and op in ("pow", "floordiv") else ""
            row("pairs", op, {}, [T(d, [len(x)], x), T(d, [len(x)], y)], [T(d, [len(x)], out)], flags)
    for d in FLOATS:
        x, y = powers(d)
        out = [compute(d, FLOAT_BINARY["pow"](a, b)) for a, b in zip(x, y)]
        row("powers", "pow", {}, [T(d, [len(x)], x), T(d, [len(x)], y)], [T(d, [len(x)], out)])
    for op in list(FLOAT_BINARY) + ["and", "or", "xor", "shl", "shr"]:
        for d in BITS:
            if d == "bool" and op not in ("min", "max", "and", "or", "xor"):
                continue
            x, y = pairs(d)
            out = [int_binary(d, op, a, b) for a, b in zip(x, y)]
            row("pairs", op, {}, [T(d, [len(x)], x), T(d, [len(x)], y)], [T(d, [len(x)], out)])
    for d, shape in itertools.product(["f16", "i8"], EMPTY_AND_SCALAR):
        x = some(d, shape)
        f = FLOAT_BINARY["add"] if d == "f16" else (lambda a, b: int_binary("i8", "add", a, b))
        out = [compute(d, f(a, b)) if d == "f16" else f(a, b) for a, b in zip(x.v, x.v)]
        row("shapes", "add", {}, [x, x], [T(d, shape, out)])


def make_compare():
    open_family("compare")
    ops = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
           "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
    for op, f in ops.items():
        for d in ALL:
            x, y = pairs(d)
            row("pairs", op, {}, [T(d, [len(x)], x), T(d, [len(x)], y)],
                [T("bool", [len(x)], [f(a, b) for a, b in zip(x, y)])])
    for d in ANY:
        x, y = pairs(d)
        c = [random.randint(0, 1) for _ in x]
        row("select", "select", {}, [T("bool", [len(x)], c), T(d, [len(x)], x), T(d, [len(x)], y)],
            [T(d, [len(x)], [a if k else b for k, a, b in zip(c, x, y)])])


def converted(to, d, v):
    if d in FLOATS:
        return cast(to, v) if to in FLOATS else to_int(to, v)
    return round_once(to, Fraction(v)) if to in FLOATS else wrap(to, v)


def between(d, to):
    """Values half way between neighbours of a narrower format, and just beside."""
    p, least, most, _, _ = FLOATS[to]
    out = []
    for base in (1.0, 3.0, 2.0 ** least, most):
        ulp = 2.0 ** (max(math.frexp(base)[1] - 1, least) - p + 1)
        for n in (0.5, 1.5, 0.5 + 2 ** -20, 0.5 - 2 ** -20, 1.0):
            out += [cast(d, base + n * ulp), cast(d, -base - n * ulp)]
    return [v for v in out if not math.isinf(v)]


def make_cast():
    open_family("cast")
    for d, to, user in itertools.product(ANY, ANY, (0, 1)):
        if user and (to not in FLOATS or d not in FLOATS):
            continue
        values = specials(d, 6)
        if d in FLOATS:
            values += between(d, to) if to in FLOATS else [cast(d, v) for v in (2.9, -2.9, 255.5, 256.0, -129.0, 3e9, 1e19, -1e19)]
        elif d != "bool" and INTS[d][0] == 64 and to in FLOATS:
            lo, hi = int_range(d)
            values += [v for v in (2 ** 53 + 1, 2 ** 53 + 3, 2 ** 62 + 2 ** 54 + 1, 2 ** 62 + 2 ** 38 + 1, -(2 ** 62) - 2 ** 54 - 1) if lo <= v <= hi]
        row("all", "cast", {"to": to, "user": user}, [T(d, [len(values)], values)],
            [T(to, [len(values)], [converted(to, d, v) for v in values])])


# ---- along axes -----------------------------------------------------------------------------------------

def fold(op, d, values, result):
    """Sum, product, max or min of a list, rounded once."""
    if op in ("sum", "prod"):
        if d in INTS:
            v = sum(values) if op == "sum" else math.prod(values)
            return wrap(result, v)
        if any(not math.isfinite(v) for v in values):
            with np.errstate(all="ignore"):
                f = np.sum if op == "sum" else np.prod
                return float(f(np.array(values, dtype=np.float64)))
        exact = sum(map(Fraction, values), Fraction(0)) if op == "sum" else math.prod(map(Fraction, values), start=Fraction(1))
        sign = -1 if op == "prod" and sum(math.copysign(1, v) < 0 for v in values) % 2 else 1
        return compute(result, exact) if exact else math.copysign(0.0, sign)
    if not values:
        if d == "bool":
            return int(op == "min")
        lo, hi = int_range(d) if d in INTS else (-INF, INF)
        v = lo if op == "max" else hi
        return compute(result, v) if d in FLOATS else v
    out = values[0]
    for v in values[1:]:
        out = extreme(op, out, v) if d in FLOATS else (max if op == "max" else min)(out, v)
    return out


def reduced(op, x, axes, result):
    a = x.array()
    kept = [i for i in range(a.ndim) if i not in axes]
    moved = np.transpose(a, kept + list(axes))
    shape = [a.shape[i] for i in kept]
    count = math.prod(a.shape[i] for i in axes)
    lanes = [[]] * math.prod(shape) if count == 0 else moved.reshape(-1, count).tolist()
    return T(result, shape, [fold(op, x.d, lane, result) for lane in lanes])


REDUCE_SHAPES = [((5,), (0,)), ((3, 4), (0,)), ((3, 4), (1,)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (1,)),
                 ((2, 3), ()), ((), ()), ((0, 4), (0,)), ((4, 0), (0,)), ((4, 0), (1,)), ((3, 0, 2), (0, 1)), ((1, 1), (0, 1))]
WIDER = {"i8": ["i32", "i64"], "u8": ["u32"], "f16": ["f32"], "bf16": ["f32"], "f32": ["f64", "f16"], "i32": ["i64", "i8"], "f8e4m3": ["f32"]}


def lane_values(d):
    """Lanes with what is hard: NaN, infinities, zeros of both signs, the extremes."""
    if d not in FLOATS:
        return [specials(d, 3)]
    inf, nan, most = cast(d, INF), NAN, FLOATS[d][2]
    return [[1.0, nan, 2.0], [inf, -inf, 1.0], [-0.0, 0.0], [-0.0, -0.0], [inf, 3.0], [2.0, 4.0, nan, nan], [most, -1.0], [-2.0, 0.0, 3.0]]


def make_reduce():
    open_family("reduce")
    for d in ALL:
        for op in ("sum", "prod", "max", "min"):
            if d == "bool" and op in ("sum", "prod"):
                continue
            for shape, axes in REDUCE_SHAPES:
                x = some(d, shape, 3)
                row("shapes", "reduce_" + op, {"axes": axes, "dtype": d}, [x], [reduced(op, x, axes, d)])
            for lane in lane_values(d):
                x = T(d, [len(lane)], lane)
                want = fold(op, d, lane, d)
                if d in FLOATS and op in ("sum", "prod"):
                    want = cast(d, want)
                row("lanes", "reduce_" + op, {"axes": [0], "dtype": d}, [x], [T(d, [], [want])])
            for result in WIDER.get(d, []) if op in ("sum", "prod") else []:
                x = some(d, (3, 4), 3)
                row("dtype", "reduce_" + op, {"axes": [1], "dtype": result}, [x], [reduced(op, x, [1], result)])
        for op in ("argmax", "argmin"):
            make_argreduce(op, d)
        for op in ("cum_sum", "cum_prod", "cum_max", "cum_min"):
            if not (d == "bool" and op in ("cum_sum", "cum_prod")):
                make_cumulative(op, d)


def best(op, lane):
    for i, v in enumerate(lane):
        if v != v:
            return i
    return lane.index(max(lane) if op == "argmax" else min(lane)) if lane else 0


def make_argreduce(op, d):
    for shape, axis in [((6,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1), ((0, 3), 1), ((3, 0), 1), ((1,), 0)]:
        x = some(d, shape, 2)
        a = np.moveaxis(x.array(), axis, -1)
        lanes = a.reshape(-1, shape[axis]).tolist() if shape[axis] else [[]] * math.prod(a.shape[:-1])
        row("shapes", op, {"axis": axis}, [x], [T("i64", a.shape[:-1], [best(op, l) for l in lanes])])
    for lane in lane_values(d):
        row("lanes", op, {"axis": 0}, [T(d, [len(lane)], lane)], [T("i64", [], [best(op, lane)])])


def make_cumulative(op, d):
    for shape, axis, exclusive, reverse in [((5,), 0, 0, 0), ((5,), 0, 1, 0), ((5,), 0, 0, 1), ((5,), 0, 1, 1), ((2, 3, 2), 1, 0, 0),
                                            ((2, 3), 0, 1, 0), ((0, 2), 0, 0, 0), ((2, 0), 0, 0, 0), ((1,), 0, 1, 0)]:
        x = some(d, shape, 3)
        a = np.moveaxis(x.array(), axis, -1)
        out = np.empty(a.shape, dtype=object)
        for place in np.ndindex(*a.shape):
            lane, i = a[place[:-1]].tolist(), place[-1]
            part = (lane[i + 1:] if exclusive else lane[i:])[::-1] if reverse else lane[:i if exclusive else i + 1]
            out[place] = fold(op[4:], d, part, d)
        row("shapes", op, {"axis": axis, "exclusive": exclusive, "reverse": reverse}, [x], [tensor(d, np.moveaxis(out, -1, axis))])


# ---- movement --------------------------------------------------------------------------------------------

def make_movement():
    open_family("movement")
    for d in ANY:
        x = some(d, (2, 3, 5))
        a = x.array()
        row("flat", "reshape", {"dims": [30]}, [x], [tensor(d, a.reshape(30))])
        row("split", "reshape", {"dims": [3, 1, 10]}, [x], [tensor(d, a.reshape(3, 1, 10))])
        for perm in ([2, 0, 1], [0, 2, 1], [0, 1, 2], [2, 1, 0]):
            row("axes", "permute", {"perm": perm}, [x], [tensor(d, a.transpose(perm))])
        row("new axes", "broadcast", {"dims": [4, 2, 3, 5], "axes": [1, 2, 3]}, [x], [tensor(d, np.broadcast_to(a, (4, 2, 3, 5)))])
        one = some(d, (2, 1, 5))
        row("ones", "broadcast", {"dims": [2, 3, 5, 2], "axes": [0, 1, 2]}, [one],
            [tensor(d, np.broadcast_to(one.array()[..., None], (2, 3, 5, 2)))])
        for start, limit, step in (([0, 1, 0], [2, 3, 5], [1, 1, 2]), ([1, 0, 1], [2, 3, 4], [1, 2, 3]), ([0, 3, 5], [2, 3, 5], [1, 1, 1])):
            cut = a[tuple(slice(*s) for s in zip(start, limit, step))]
            row("cut", "slice", {"start": start, "limit": limit, "step": step}, [x], [tensor(d, cut)])
        value = T(d, [], numbers(d, 1))
        for lo, hi in (([0, 0, 1], [0, 2, 0]), ([1, 1, 1], [1, 0, 3]), ([0, 0, 0], [0, 0, 0])):
            padded = np.pad(a, list(zip(lo, hi)), constant_values=value.v[0])
            row("around", "pad", {"lo": lo, "hi": hi}, [x, value], [tensor(d, padded)])
        for axes in ([0], [1, 2], [2], []):
            row("axes", "reverse", {"axes": axes}, [x], [tensor(d, np.flip(a, axes) if axes else a)])
        y, z = some(d, (2, 1, 5)), some(d, (2, 0, 5))
        row("three", "concat", {"axis": 1}, [x, y, z], [tensor(d, np.concatenate([a, y.array(), z.array()], 1))])
        row("last", "concat", {"axis": 2}, [x, x], [tensor(d, np.concatenate([a, a], 2))])
        row("one", "concat", {"axis": 0}, [x], [x])
        nothing = some(d, (0, 3))
        row("empty", "permute", {"perm": [1, 0]}, [nothing], [T(d, (3, 0), [])])
        row("empty", "reshape", {"dims": [5, 0]}, [nothing], [T(d, (5, 0), [])])
        row("empty", "reverse", {"axes": [0, 1]}, [nothing], [nothing])
        row("empty", "pad", {"lo": [1, 0], "hi": [1, 0]}, [nothing, value], [T(d, (2, 3), value.v * 6)])
        scalar = some(d, ())
        row("scalar", "broadcast", {"dims": [2, 3], "axes": []}, [scalar], [T(d, (2, 3), scalar.v * 6)])
        row("scalar", "reshape", {"dims": [1, 1]}, [scalar], [T(d, (1, 1), scalar.v)])
        row("scalar", "permute", {"perm": []}, [scalar], [scalar])
        row("given", "const", {"value": x}, [], [x])
        if d in NUMBERS:
            make_iota(d)
    row("static", "dim", {"value": -7}, [], [T("i64", [], [-7])])


def make_iota(d):
    for shape, axis in (((3, 4), 0), ((3, 4), 1), ((20,), 0), ((0,), 0)):
        index = np.broadcast_to(np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape)
        values = [round_once(d, Fraction(int(v))) if d in FLOATS else wrap(d, int(v)) for v in index.reshape(-1)]
        row("axis", "iota", {"axis": axis}, [], [T(d, shape, values)])


# ---- gather, scatter -------------------------------------------------------------------------------------

def place_of(index, n):
    if -n <= index < n:
        return index % n
    return 0 if index < 0 else n - 1


def gathered(x, index, axis, batch):
    """The result, as an array of places in x so that scatter can use it too."""
    a, k = np.arange(math.prod(x.shape)).reshape(x.shape), index.array()
    shape = x.shape[:axis] + k.shape[batch:] + x.shape[axis + 1:]
    out = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape):
        rest = at[axis:axis + k.ndim - batch]
        tail = at[axis + k.ndim - batch:]
        i = k[at[:batch] + rest]
        out[at] = int(a[at[:axis] + (place_of(i, x.shape[axis]),) + tail])
    return out


INDEX_CASES = [((5,), (3,), 0, 0), ((4, 3), (2, 2), 0, 0), ((4, 3), (2,), 1, 0), ((2, 4, 3), (2, 5), 1, 1), ((2, 4), (2, 3), 1, 1),
               ((5, 2), (), 0, 0), ((5, 2), (0,), 0, 0), ((3, 0), (2,), 0, 0), ((2, 3, 4), (2, 3, 2), 2, 2)]


def make_index():
    open_family("index")
    for d in ANY:
        for n, (shape, index_shape, axis, batch) in enumerate(INDEX_CASES):
            x = some(d, shape)
            size = shape[axis]
            index = T(("i32", "i64")[n % 2], index_shape, [random.randint(-size, size - 1) for _ in range(math.prod(index_shape))])
            attrs = {"axis": axis, "batch": batch}
            places = gathered(x, index, axis, batch)
            row("slices", "gather", attrs, [x, index], [T(d, places.shape, [x.v[p] for p in places.reshape(-1)])])
            for op in ("set", "add", "mul", "max", "min"):
                if d not in NUMBERS and op != "set":
                    continue
                u = some(d, places.shape, 2)
                row("slices", "scatter_" + op, attrs, [x, index, u], [scattered(op, x, places, u)])


def scattered(op, x, places, u):
    lists = [[v] for v in x.v]
    for p, v in zip(places.reshape(-1), u.v):
        lists[p].append(v)
    if op == "set":
        return T(x.d, x.shape, [l[-1] for l in lists])
    names = {"add": "sum", "mul": "prod", "max": "max", "min": "min"}
    return T(x.d, x.shape, [l[0] if len(l) == 1 else fold(names[op], x.d, l, x.d) for l in lists])


# ---- contract, conv, windows -------------------------------------------------------------------------------

def sum_of(d, terms, result):
    """Σ of exact products (pairs), rounded once."""
    if d in INTS:
        return wrap(result, sum(a * b for a, b in terms))
    if any(not math.isfinite(v) for t in terms for v in t):
        with np.errstate(all="ignore"):
            return compute(result, float(np.sum([np.float64(a) * np.float64(b) for a, b in terms])))
    return compute(result, sum((Fraction(a) * Fraction(b) for a, b in terms), Fraction(0)))


def contracted(x, y, la, lb, lo, result):
    size = {l: n for labels, t in ((la, x), (lb, y)) for l, n in zip(labels, t.shape)}
    summed = [l for l in la if l not in lo]
    a, b = x.array(), y.array()
    shape = [size[l] for l in lo]
    out = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape):
        bound = dict(zip(lo, at))
        terms = []
        for k in np.ndindex(*[size[l] for l in summed]):
            full = {**bound, **dict(zip(summed, k))}
            terms.append((a[tuple(full[l] for l in la)], b[tuple(full[l] for l in lb)]))
        out[at] = sum_of(x.d, terms, result)
    return tensor(result, out)


CONTRACTIONS = [((3, 4), (4, 5), (0, 1), (1, 2), (0, 2)), ((3, 4), (5, 4), (0, 1), (2, 1), (2, 0)), ((4,), (4,), (0,), (0,), ()),
                ((2, 3, 4), (2, 4, 2), (0, 1, 2), (0, 2, 3), (0, 1, 3)), ((3,), (2,), (0,), (1,), (1, 0)), ((4, 0), (0, 4), (0, 1), (1, 2), (0, 2)),
                ((0, 3), (3, 2), (0, 1), (1, 2), (0, 2)), ((2, 3), (2, 3), (5, 9), (5, 9), (9, 5)), ((2, 3, 2), (3, 2, 2), (0, 1, 2), (1, 2, 3), (3, 0)),
                ((1, 1), (1, 1), (0, 1), (1, 2), (0, 2)), ((5, 7), (7, 3), (0, 1), (1, 2), (0, 2)), ((), (), (), (), ())]


def make_contract():
    open_family("contract")
    for d in NUMBERS:
        for xs, ys, a, b, out in CONTRACTIONS:
            x, y = some(d, xs, 3), some(d, ys, 3)
            for result in [d] + WIDER.get(d, []) if xs == (3, 4) else [d]:
                row("einsum", "contract", {"a": a, "b": b, "out": out, "dtype": result}, [x, y], [contracted(x, y, a, b, out, result)])
        for spec in CONVS:
            make_conv(d, *spec)
    for d in ("f32", "f16", "f64"):
        x = T(d, (2, 2), [INF, 1.0, NAN, 0.0])
        y = T(d, (2, 2), [0.0, 2.0, 1.0, -INF])
        row("specials", "contract", {"a": [0, 1], "b": [1, 2], "out": [0, 2], "dtype": d}, [x, y], [contracted(x, y, [0, 1], [1, 2], [0, 2], d)])


def window_extent(n, k, s, dil, lo, hi):
    return max(0, (n + lo + hi - dil * (k - 1) - 1) // s + 1)


# x, w, strides, dilations, lo, hi, groups
CONVS = [((1, 2, 5), (3, 2, 3), [1], [1], [1], [1], 1), ((2, 2, 4, 5), (2, 1, 2, 3), [2, 1], [1, 2], [1, 0], [0, 2], 2),
         ((1, 1, 3, 3, 3), (1, 1, 2, 2, 2), [1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0], 1), ((1, 3, 4, 4), (3, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1], 3),
         ((0, 2, 4), (1, 2, 2), [1], [1], [0], [0], 1), ((1, 1, 2), (1, 1, 4), [1], [1], [0], [0], 1), ((1, 0, 3), (2, 0, 2), [1], [1], [0], [0], 1)]


def make_conv(d, xs, ws, strides, dilations, lo, hi, groups):
    x, w = some(d, xs, 3), some(d, ws, 2)
    a, b = x.array(), w.array()
    spatial = [window_extent(*n) for n in zip(xs[2:], ws[2:], strides, dilations, lo, hi)]
    out = np.empty([xs[0], ws[0]] + spatial, dtype=object)
    for at in np.ndindex(*out.shape):
        terms = []
        group = at[1] // (ws[0] // groups)
        for k in np.ndindex(*ws[1:]):
            place = [o * s + i * dil - l for o, s, i, dil, l in zip(at[2:], strides, k[1:], dilations, lo)]
            if all(0 <= p < n for p, n in zip(place, xs[2:])):
                terms.append((a[(at[0], group * ws[1] + k[0], *place)], b[(at[1], *k)]))
        out[at] = sum_of(d, terms, d)
    row("nested", "conv", {"strides": strides, "dilations": dilations, "lo": lo, "hi": hi, "groups": groups, "dtype": d}, [x, w], [tensor(d, out)])


# x, window, strides, dilations, lo, hi
WINDOWS = [((5,), [3], [1], [1], [1], [1]), ((4, 5), [2, 2], [2, 1], [1, 2], [0, 1], [1, 0]), ((1, 2, 4, 4), [1, 1, 2, 2], [1, 1, 2, 2], [1] * 4, [0] * 4, [0] * 4),
           ((3,), [2], [3], [1], [4], [4]), ((2,), [5], [1], [1], [0], [0]), ((0, 3), [1, 2], [1, 1], [1, 1], [0, 0], [0, 0]), ((4,), [3], [1], [2], [2], [2])]


def make_window():
    open_family("window")
    for d, op in itertools.product(NUMBERS, ("sum", "max", "min")):
        for spec in WINDOWS:
            windowed(op, some(d, spec[0], 3), *spec[1:])
        if d in FLOATS:
            windowed(op, T(d, (6,), [1.0, NAN, -3.0, cast(d, INF), -0.0, 2.0]), [2], [1], [1], [0], [1])


def windowed(op, x, window, strides, dilations, lo, hi, name="places"):
    a = x.array()
    shape = [window_extent(*n) for n in zip(x.shape, window, strides, dilations, lo, hi)]
    out = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape):
        values = []
        for k in np.ndindex(*window):
            place = tuple(o * s + i * dil - l for o, s, i, dil, l in zip(at, strides, k, dilations, lo))
            if all(0 <= p < n for p, n in zip(place, x.shape)):
                values.append(a[place])
        v = fold(op, x.d, values, x.d)
        out[at] = cast(x.d, v) if x.d in FLOATS else v
    row(name, "window_" + op, {"window": window, "strides": strides, "dilations": dilations, "lo": lo, "hi": hi}, [x], [tensor(x.d, out)])


# ---- sort, random -------------------------------------------------------------------------------------------

def sorted_lane(lane, descending):
    """Stable; NaN greatest; Python compares -0 and 0 as equal."""
    key = lambda i: (lane[i] != lane[i], 0 if lane[i] != lane[i] else lane[i])
    return sorted(range(len(lane)), key=key) if not descending else \
        sorted(reversed(range(len(lane))), key=key)[::-1]


def make_sort():
    open_family("sort")
    for d, descending in itertools.product(ALL, (0, 1)):
        hard = T(d, (9,), [3.0, NAN, -0.0, 0.0, cast(d, -INF), NAN, 3.0, cast(d, INF), 1.0]) if d in FLOATS else some(d, (9,), 3)
        for x, axis in ((some(d, (7,), 2), 0), (some(d, (3, 4), 2), 0), (some(d, (2, 3, 2), 2), 1), (some(d, (0, 2)), 0), (some(d, (2, 0)), 1), (hard, 0)):
            a = np.moveaxis(x.array(), axis, -1)
            order = np.empty(a.shape, dtype=object)
            for at in np.ndindex(*a.shape[:-1]):
                order[at] = sorted_lane(a[at].tolist(), descending) if a.shape[-1] else []
            values = np.take_along_axis(a, order.astype(np.int64), -1)
            back = lambda m: np.moveaxis(m, -1, axis)
            row("lanes", "sort", {"axis": axis, "descending": descending}, [x], [tensor(d, back(values)), tensor("i64", back(order))])
            for k in {0, min(2, a.shape[-1]), a.shape[-1]}:
                row("lanes", "topk", {"axis": axis, "k": k, "largest": descending}, [x],
                    [tensor(d, back(values[..., :k])), tensor("i64", back(order[..., :k]))])


def philox_round(c, k):
    p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
    return [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]


def philox(c, k):
    for i in range(10):
        c = philox_round(c, [(k[0] + i * 0x9E3779B9) & 0xFFFFFFFF, (k[1] + i * 0xBB67AE85) & 0xFFFFFFFF])
    return c


def make_random():
    open_family("random")
    # Known answers of the Random123 distribution, kat_vectors: philox4x32, 10 rounds.
    assert philox([0] * 4, [0, 0]) == [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]
    assert philox([0xffffffff] * 4, [0xffffffff] * 2) == [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]
    assert philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]) == [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]
    # numpy's generator steps its counter before the first block and gives 64-bit words, low word first.
    for key, stream, shape in ((0, 0, (10,)), (0x299f31d0a4093822, 5, (3, 3)), (2 ** 64 - 1, -1, (4,)), (7, 2 ** 40 + 3, ()), (7, 1, (0,))):
        n, words = math.prod(shape), []
        for block in range((n + 3) // 4):
            s = stream % 2 ** 64
            words += philox([block & 0xFFFFFFFF, block >> 32, s & 0xFFFFFFFF, s >> 32], [key & 0xFFFFFFFF, key >> 32])
        row("key", "random", {"stream": stream, "dims": list(shape)}, [T("u64", [], [key])], [T("u32", shape, words[:n])])


# ---- known bugs of other compilers (named after their threads) ------------------------------------------------

def make_known():
    open_family("known")
    f32 = lambda *v: T("f32", [len(v)], v)
    i64 = lambda *v: T("i64", [len(v)], v)
    one = lambda op, d, x, y, out: row_named(op, [T(d, [len(x)], x), T(d, [len(x)], y)], [T(d, [len(x)], out)])

    def row_named(op, args, results, **attrs):
        row(name, op, attrs, args, results, flags)

    flags = ""
    name = "jax#38099"
    row_named("exp", [f32(89.0)], [f32(INF)])
    row_named("exp2", [f32(128.0)], [f32(INF)])
    name = "tvm#16438"
    row_named("tanh", [f32(45.0, 100.0, -45.0, INF)], [f32(1.0, 1.0, -1.0, 1.0)])
    name = "tt-metal#56517"
    tail = cast("f32", to_fraction(mpmath.erfc(mpmath.mpf(5.5))))
    row_named("erfc", [f32(5.5)], [f32(tail)])
    name = "TensorRT#4773"
    one("max", "f32", [NAN, 1.0, NAN], [0.0, NAN, -INF], [NAN, NAN, NAN])
    one("min", "f32", [NAN, 1.0], [6.0, NAN], [NAN, NAN])
    name = "tvm#19558"
    row_named("argmax", [f32(2.0, NAN, 7.0, 4.0, 1.0)], [T("i64", [], [1])], axis=0)
    row_named("argmax", [f32(*[NAN] * 58)], [T("i64", [], [0])], axis=0)
    name = "tinygrad#9674"
    one("div", "i32", [-7, 7, -8], [2, -2, 2], [-3, -3, -4])
    one("floordiv", "i32", [-7, 7, -8], [2, -2, 2], [-4, -4, -4])
    name = "tvm#20170"
    one("mod", "i32", [-5], [3], [1])
    one("rem", "f32", [-5.5], [3.0], [-2.5])
    name = "tvm#20324"
    one("div", "i64", [2 ** 53 + 3, (2 ** 53 + 3) * 3], [1, 3], [2 ** 53 + 3, 2 ** 53 + 3])
    name = "mlx#4346"
    for d in ("i8", "i32", "i64"):
        lo, _ = int_range(d)
        one("div", d, [lo, 5, lo], [-1, 0, 0], [lo, 0, 0])
        one("rem", d, [lo, 5], [-1, 0], [0, 0])
        one("mod", d, [lo, 5], [-1, 0], [0, 0])
        one("shl", d, [1, 1, 1], [INTS[d][0], -1, INTS[d][0] - 1], [0, 0, lo])
        one("shr", d, [-8, -8, 8], [INTS[d][0], -1, INTS[d][0]] if d != "i8" else [8, -1, 8], [-1, -1, 0])
    name = "pytorch#93829"
    row_named("neg", [T("u8", [1], [6])], [T("u8", [1], [250])])
    row_named("lt", [T("u8", [1], [250]), T("u8", [1], [4])], [T("bool", [1], [0])])
    name = "pytorch#187018"
    row_named("abs", [T("u8", [1], [200])], [T("u8", [1], [200])])
    row_named("reduce_sum", [T("u8", [4], [56] * 4)], [T("u8", [], [224])], axes=[0], dtype="u8")
    name = "pytorch#131910"
    for n in (3, 8, 450):
        row_named("cast", [T("f32", [n], [-2.0] * n)], [T("u8", [n], [0] * n)], to="u8", user=1)
    name = "pytorch#190421"
    row_named("cast", [f32(-INF, INF, NAN)], [T("i32", [3], [-2 ** 31, 2 ** 31 - 1, 0])], to="i32", user=1)
    name = "ort#3442"
    row_named("cast", [f32(-128.0, -200.0, 127.5)], [T("i8", [3], [-128, -128, 127])], to="i8", user=1)
    name = "xla#9431"
    x = T("i8", [2, 3], [1, 2, 3, 4, 5, 6])
    row_named("eq", [x, x], [T("bool", [2, 3], [1] * 6)])
    name = "ort#15446"
    windowed("max", f32(1.0, 2.0, 3.0, 6.0, 5.0), [3], [3], [1], [1], [2], name)
    name = "onnx#5711"
    windowed("max", T("f32", [12], [float(i) for i in range(12)]), [1], [2], [1], [0], [0], name)
    name = "tvm#18594"
    windowed("sum", T("f32", [17], [1.0] * 17), [2], [2], [1], [0], [1], name)
    name = "ort#29631"
    windowed("sum", T("f32", [9], [float(i + 1) for i in range(9)]), [7], [3], [1], [0], [4], name)
    name = "ort#25234"
    windowed("max", T("f32", [1, 2, 7, 0], []), [1, 1, 1, 1], [1, 1, 1, 1], [1] * 4, [0] * 4, [0] * 4, name)
    windowed("max", T("f32", [2], [1.0, 2.0]), [4], [1], [1], [0], [0], name)
    name = "tvm#19578"
    row_named("contract", [T("f32", [4, 0], []), T("f32", [0, 4], [])], [T("f32", [4, 4], [0.0] * 16)], a=[0, 1], b=[1, 2], out=[0, 2], dtype="f32")
    name = "ort#8146"
    row_named("reduce_sum", [T("f32", [3, 0, 4], [])], [T("f32", [3, 4], [0.0] * 12)], axes=[1], dtype="f32")
    row_named("reduce_prod", [T("f32", [0], [])], [T("f32", [], [1.0])], axes=[0], dtype="f32")
    row_named("reduce_max", [T("f32", [0], [])], [T("f32", [], [-INF])], axes=[0], dtype="f32")
    row_named("reduce_max", [T("i32", [0], [])], [T("i32", [], [-2 ** 31])], axes=[0], dtype="i32")
    row_named("reduce_min", [T("f32", [0], [])], [T("f32", [], [INF])], axes=[0], dtype="f32")
    name = "ort#16586"
    row_named("reduce_sum", [f32(1.0, 2.0)], [f32(1.0, 2.0)], axes=[], dtype="f32")
    name = "tvm#20217"
    row_named("gather", [f32(1.0, 2.0, 3.0), i64(-1, -3, 0)], [f32(3.0, 1.0, 1.0)], axis=0, batch=0)
    for bad, clamped in ((3, 3.0), (-4, 1.0), (2 ** 62, 3.0), (-2 ** 63, 1.0)):
        flags = f"!{bad},3"
        row_named("gather", [f32(1.0, 2.0, 3.0), i64(bad)], [f32(clamped)], axis=0, batch=0)
        flags = ""
    name = "pytorch#131321"
    row_named("scatter_set", [f32(1.0, 2.0, 3.0), i64(-1, -1), f32(7.0, 8.0)], [f32(1.0, 2.0, 8.0)], axis=0, batch=0)
    name = "iree#24265"
    row_named("reduce_max", [T("f32", [2, 2, 2], [1.0, 5.0, 2.0, 3.0, -1.0, 0.0, 9.0, 4.0])], [T("f32", [2], [5.0, 9.0])], axes=[0, 2], dtype="f32")
    name = "onnx#2030"
    for exclusive, reverse, want in ((0, 0, [1, 3, 6]), (1, 0, [0, 1, 3]), (0, 1, [6, 5, 3]), (1, 1, [5, 3, 0])):
        row_named("cum_sum", [f32(1.0, 2.0, 3.0)], [f32(*map(float, want))], axis=0, exclusive=exclusive, reverse=reverse)
    name = "tvm#19437"
    row_named("cum_sum", [T("i32", [2, 3], [1, 2, 3, 4, 5, 6])], [T("i32", [2, 3], [1, 3, 6, 4, 9, 15])], axis=1, exclusive=0, reverse=0)
    name = "triton#4116"
    row_named("reduce_sum", [T("f32", [2, 2, 32], [float(i) for i in range(128)])], [T("f32", [2], [2016.0, 6112.0])], axes=[1, 2], dtype="f32")
    name = "jax#17531"
    row_named("reduce_max", [T("f32", [9000], [float(-i) for i in range(9000)])], [T("f32", [], [0.0])], axes=[0], dtype="f32")
    name = "ort#29034"
    row_named("contract", [T("f16", [2], [300.0, 1.0]), T("f16", [2], [300.0, 1.0])], [T("f32", [], [90001.0])], a=[0], b=[0], out=[], dtype="f32")
    name = "pytorch#188492"
    row_named("contract", [T("bf16", [512], [1.0] * 512), T("bf16", [512], [1.0] * 512)], [T("bf16", [], [512.0])], a=[0], b=[0], out=[], dtype="bf16")
    name = "e4m3 saturates"
    row_named("cast", [f32(INF, -INF, 1e6, 464.0, NAN)], [T("f8e4m3", [5], [448.0, -448.0, 448.0, 448.0, NAN])], to="f8e4m3", user=1)


# ---- the formats themselves, against numpy and ml_dtypes ---------------------------------------------------------

def check_formats():
    others = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3": ml_dtypes.float8_e4m3fn, "f32": np.float32}
    for d, other in others.items():
        for _ in range(3000):
            v = float(np.float32(random.choice([-1, 1]) * 2 ** random.uniform(-20, 17)))
            if d == "f8e4m3":
                v = max(-448.0, min(448.0, v))
            with np.errstate(all="ignore"):
                want = np.float32(v).astype(other)
            assert encode(d, cast(d, v)) == want.tobytes(), (d, v)


if __name__ == "__main__":
    check_formats()
    for make in (make_unary, make_binary, make_compare, make_cast, make_reduce, make_movement, make_index, make_contract, make_window,
                 make_sort, make_random, make_known):
        make()
    for name, lines in rows.items():
        Path(__file__).with_name(name + ".txt").write_text("\n".join(lines) + "\n")
        print(name, len(lines))
