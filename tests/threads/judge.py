#!/usr/bin/env python3
"""Computes anew, from first principles and in exact arithmetic, the outputs that tests/threads/*.g call right
wherever they are more than a matter of reading. It shares nothing with tcc. Prints `N passed, N failed`."""
import decimal
import re
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).parent
decimal.getcontext().prec = 120


# ---- the comments (see text.h) -----------------------------------------------------------------------------

def number(word):
    if word in ("inf", "-inf", "nan"):
        return float(word)
    return Fraction(float.fromhex(word)) if "0x" in word else Fraction(word)


def numbers(text):
    out = []
    for word in text.strip("[]").split(","):
        word = word.strip()
        if ".." in word:
            first, last = word.split("..")
            last, _, step = last.partition(":")
            out += [Fraction(v) for v in range(int(first), int(last) + 1, int(step or 1))]
        elif word:
            word, _, count = word.partition("*")
            out += [number(word)] * int(count or 1)
    return out


def values(text):
    found = re.findall(r"(\w+)(?:\[[\d, ]*\])? (?:=|~\S+) (\[[^\]]*\]|\S+)", text)
    return {name: numbers(value) for name, value in found}


def cases(name):
    texts = []
    for line in (FOLDER / f"{name}.g").read_text().splitlines():
        if line.startswith("#:  "):
            texts[-1] += line[2:]
        elif line.startswith("#: "):
            texts.append(line[2:])
    for text in texts:
        inputs, outputs = text.split("->")
        if not outputs.strip().startswith("index"):
            yield values(inputs), values(outputs)


# ---- arithmetic --------------------------------------------------------------------------------------------

def rounded(q, digits=24):
    """To the nearest number of so many binary digits, ties to even; no overflow, no denormals."""
    if q == 0:
        return Fraction(0)
    size, exponent = abs(q), 0
    while size >= 2:
        size, exponent = size / 2, exponent + 1
    while size < 1:
        size, exponent = size * 2, exponent - 1
    scaled = size * 2 ** (digits - 1)
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)
    return (1 if q > 0 else -1) * whole * Fraction(2) ** (exponent - digits + 1)


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a >= 0) == (b >= 0) else -1)


def erfc(z):
    """By the series of erf, with far more digits than cancel."""
    term, total, n = z, z, 0
    while abs(term) > Decimal(10) ** -115:
        n += 1
        term = -term * z * z / n
        total += term / (2 * n + 1)
    return 1 - 2 * total / PI.sqrt()


def machin():
    """16 atan(1/5) - 4 atan(1/239)"""
    def atan(n):
        power, total, k = Decimal(1) / n, Decimal(0), 0
        while power > Decimal(10) ** -118:
            total += (-power if k % 2 else power) / (2 * k + 1)
            power, k = power / (n * n), k + 1
        return total
    return 16 * atan(5) - 4 * atan(239)


PI = machin()


def pool(size, kernel, stride, lo, hi, ceil):
    """The places that each window of one axis covers: [begin, end) in the data's coordinates, by torch's rule."""
    room = size + lo + hi - kernel
    count = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + lo:
        count -= 1
    return [(w * stride - lo, w * stride - lo + kernel) for w in range(count)]


# ---- what is right -----------------------------------------------------------------------------------------

def gelu(x):
    h = Decimal(int(x.numerator)) / Decimal(int(x.denominator))
    return Fraction(h / 2 * erfc(-h / Decimal(2).sqrt()))


def contractions(x, y, c):
    """What a/c + b/c may become when quotients are fused into the sum, or made products."""
    r = rounded(1 / c)
    yield rounded(x / c + rounded(y / c))
    yield rounded(rounded(x / c) + y / c)
    yield rounded(x * r + rounded(y * r))
    yield rounded(rounded(x * r) + y * r)
    yield rounded(rounded(x * r) + rounded(y * r))


def pytorch_122260(i):
    c, sums = rounded(Fraction("1e-6")), []
    for x, y in zip(map(rounded, i["x"]), map(rounded, i["y"])):
        sums.append(rounded(rounded(x / c) + rounded(y / c)))
        assert sums[-1] not in list(contractions(x, y, c)) and rounded(x * y) != x * y
    return {"s": sums, "d": [Fraction(0)] * len(sums)}


def pytorch_189787(i):
    n = len(i["x"])
    p, plain, lanes = rounded(Fraction(1, n)), Fraction(0), Fraction(0)
    for _ in range(n):
        plain = rounded(plain + p)
    for _ in range(n // 16):
        lanes = rounded(lanes + p)
    assert plain < 1 and 16 * lanes < 1 and rounded(n * p) < 1
    return {"whole": [Fraction(0)]}


def tinygrad_9674(i):
    sums = [4 * a + r for a, r in zip(i["a"], i["r"])]
    return {"q": [s // 4 for s in sums], "t": [truncated(s, 4) for s in sums], "m": [s % 4 for s in sums], "back": i["a"]}


def tvm_20170(i):
    def rem(a, b):
        return a - b * truncated(a, b)
    pairs, floats = list(zip(i["a"], i["b"])), list(zip(i["x"], i["y"]))
    return {"m": [a % b for a, b in pairs], "r": [rem(a, b) for a, b in pairs],
            "f": [a % b for a, b in floats], "g": [rem(a, b) for a, b in floats]}


def tvm_20324(i):
    pairs = list(zip(i["a"], i["b"]))
    assert any(float(a) != a for a, _ in pairs)
    return {"q": [truncated(a, b) for a, b in pairs], "f": [a // b for a, b in pairs], "p": [a * b for a, b in pairs],
            "r": [Fraction(0)] * 3}


def ort_15446(i):
    axes = [pool(size, 3, 3, 1, 1, True) for size in (3, 6, 5)]
    assert [len(a) for a in axes] == [2, 3, 2]
    out = []
    for c in range(2):
        for d in axes[0]:
            for h in axes[1]:
                for w in axes[2]:
                    inside = [i["x"][((c * 3 + z) * 6 + y) * 5 + x] for z in range(max(0, d[0]), min(3, d[1]))
                              for y in range(max(0, h[0]), min(6, h[1])) for x in range(max(0, w[0]), min(5, w[1]))]
                    out.append(max(inside))
    return {"y": out}


def onnx_5711(i):
    return {"y": [max(i["x"][a:b]) for a, b in pool(12, 1, 2, 0, 0, True)]}


def tvm_18594(i):
    windows = [i["x"][a:b] for a, b in pool(17, 2, 2, 0, 1, True)]
    return {"y": [sum(w) / len(w) for w in windows], "z": [max(w) for w in windows]}


def ort_29631(i):
    return {"y": [sum(i["x"][a:b]) / (min(b, 9 + 3) - a) for a, b in pool(9, 7, 3, 0, 3, True)]}


def ort_28291(i):
    places = [(k + Fraction(1, 2)) * Fraction(20, 6) - Fraction(1, 2) for k in range(6)]
    return {"y": [i["x"][(place + Fraction(1, 2)) // 1] for place in places]}


def onnx_2030(i):
    def running(x, exclusive=False, reverse=False):
        x = x[::-1] if reverse else x
        sums = [sum(x[:k + (not exclusive)], Fraction(0)) for k in range(len(x))]
        return sums[::-1] if reverse else sums
    x, rows = i["x"], [i["w"][:3], i["w"][3:]]
    return {"a": running(x), "b": running(x, True), "c": running(x, False, True), "d": running(x, True, True),
            "one": running(rows[0]) + running(rows[1]), "zero": rows[0] + [p + q for p, q in zip(*rows)],
            "last": running(rows[0], reverse=True) + running(rows[1], reverse=True)}


def ort_29034(i):
    x = i["x"]
    centre = sum(x) / len(x)
    spread = sum((v - centre) ** 2 for v in x) / len(x)
    root = Fraction((Decimal(int(spread.numerator)) / int(spread.denominator)).sqrt())
    return {"v": [rounded(spread, 11)], "n": [rounded((v - centre) / root, 11) for v in x], "d": [sum(v * v for v in x)]}


def modular_7165(i):
    stuck = Fraction(0)
    for w in i["w"]:
        stuck = rounded(stuck + w, 8)
    total = rounded(sum(i["w"]), 8)
    assert stuck < total
    return {"y": [total], "s": [rounded(Fraction(len(i["x"])), 8)]}


JUDGES = [pytorch_122260, pytorch_189787, tinygrad_9674, tvm_20170, tvm_20324, ort_15446, onnx_5711, tvm_18594,
          ort_29631, ort_28291, onnx_2030, ort_29034, modular_7165]


def same(got, want, digits):
    return len(got) == len(want) and all(abs(g - w) <= abs(w) * digits for g, w in zip(got, want))


def judge(name, compute, tolerance):
    for inputs, outputs in cases(name):
        right = compute(inputs)
        for output, stated in outputs.items():
            if not same(stated, right[output], tolerance):
                print(f"FAILED {name}: {output} is {[float(v) for v in right[output]]}")
                return False
    return True


def main():
    results = [judge(f.__name__, f, Fraction(1, 10 ** 8) if f is ort_29631 else 0) for f in JUDGES]
    results.append(judge("tt_metal_56517", lambda i: {"y": [gelu(x) for x in i["x"]]}, Fraction(1, 10 ** 8)))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return not all(results)


sys.exit(main())
