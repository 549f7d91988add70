"""The numeric contract in Python, for make_tables.py: formats with exact rounding by fractions, and the
functions by mpmath. Written from the contract's words, not from the evaluator."""
import math
import struct
from fractions import Fraction

import mpmath
import numpy as np

mpmath.mp.prec = 400

# name: (precision, exponent of the least normal number, largest number, saturates, bytes)
FLOATS = {
    "f8e4m3": (4, -6, 448.0, True, 1),
    "f8e5m2": (3, -14, 57344.0, False, 1),
    "f16": (11, -14, 65504.0, False, 2),
    "bf16": (8, -126, float.fromhex("0x1.fep127"), False, 2),
    "f32": (24, -126, float.fromhex("0x1.fffffep127"), False, 4),
    "f64": (53, -1022, float.fromhex("0x1.fffffffffffffp1023"), False, 8),
}
INTS = {"i4": (4, True), "u4": (4, False), "i8": (8, True), "u8": (8, False), "i16": (16, True),
        "u16": (16, False), "i32": (32, True), "u32": (32, False), "i64": (64, True), "u64": (64, False)}
NAN, INF = math.nan, math.inf


def int_range(d):
    bits, signed = INTS[d]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def wrap(d, v):
    if d == "bool":
        return int(v != 0)
    bits, signed = INTS[d]
    v &= (1 << bits) - 1
    return v - (1 << bits) if signed and v >> (bits - 1) else v


def round_once(d, exact, sign=1):
    """The nearest number of format d to a Fraction, ties to even; `sign` is that of a zero."""
    p, least, most, saturates, _ = FLOATS[d]
    if exact == 0:
        return math.copysign(0.0, sign)
    a = abs(exact)
    e = a.numerator.bit_length() - a.denominator.bit_length()
    if Fraction(2) ** e > a:
        e -= 1
    quantum = Fraction(2) ** (max(e, least) - p + 1)
    n = round(a / quantum)  # Python rounds halves to even
    r = n * quantum
    out = float(r) if r <= Fraction(most) else (most if saturates else INF)
    return math.copysign(out, 1 if exact > 0 else -1)


def cast(d, v):
    """A float to format d, directly. v: float or Fraction."""
    if isinstance(v, float):
        if math.isnan(v):
            return v
        if math.isinf(v):
            return math.copysign(FLOATS[d][2] if FLOATS[d][3] else INF, v)
        return round_once(d, Fraction(v), math.copysign(1, v))
    return round_once(d, v)


def compute(d, v):
    """An op's exact result to d: by way of f32 for the small formats."""
    return cast(d, cast("f32", v)) if d not in ("f32", "f64") else cast(d, v)


def to_int(d, v):
    if d == "bool":
        return int(v != 0)
    lo, hi = int_range(d)
    if math.isnan(v):
        return 0
    if math.isinf(v):
        return hi if v > 0 else lo
    return max(lo, min(hi, math.trunc(Fraction(v))))


# ---- memory forms ---------------------------------------------------------------------------------

def encode(d, v):
    p, least, most, saturates, size = FLOATS[d]
    if d == "f64":
        return struct.pack("<d", v)
    if d == "f32":
        return struct.pack("<f", v)
    sign = 1 if math.copysign(1, v) < 0 else 0
    width = size * 8
    if math.isnan(v):
        magnitude = (1 << width - 1) - 1
    elif math.isinf(v):
        magnitude = ((1 << width - p) - 1) << (p - 1)
    else:
        a = Fraction(abs(v))
        if a < Fraction(2) ** least:
            magnitude = int(a / Fraction(2) ** (least - p + 1))
        else:
            m, e = math.frexp(abs(v))  # 0.5 <= m < 1
            magnitude = ((e - 1 - least + 1) << (p - 1)) + int(Fraction(m) * 2 ** p) - (1 << (p - 1))
    return (sign << width - 1 | magnitude).to_bytes(size, "little")


def pack(d, values):
    if d == "bool":
        return bytes(int(v) for v in values)
    if d in FLOATS:
        return b"".join(encode(d, v) for v in values)
    bits, _ = INTS[d]
    words = [int(v) & ((1 << bits) - 1) for v in values]
    if bits == 4:
        words += [0] * (len(words) % 2)
        return bytes(words[i] | words[i + 1] << 4 for i in range(0, len(words), 2))
    return b"".join(w.to_bytes(bits // 8, "little") for w in words)


class T:
    """A tensor: dtype, shape, flat list of Python numbers."""

    def __init__(self, d, shape, values):
        self.d, self.shape, self.v = d, tuple(shape), list(values)
        assert len(self.v) == math.prod(self.shape), (d, shape, len(self.v))

    def __str__(self):
        dims = ",".join(map(str, self.shape))
        return f"{self.d}[{dims}]:{pack(self.d, self.v).hex()}"

    def array(self):
        """An object array, so that numpy moves elements without touching them."""
        out = np.empty(len(self.v), dtype=object)
        out[:] = self.v
        return out.reshape(self.shape)


def tensor(d, array):
    array = np.asarray(array, dtype=object)
    return T(d, array.shape, array.reshape(-1).tolist())


# ---- functions of floats ------------------------------------------------------------------------------

def to_fraction(x):
    man, exp = abs(x).man_exp
    size = Fraction(int(man)) * Fraction(2) ** int(exp)
    return -size if x < 0 else size


def sign_of(x):
    return math.copysign(1, x)


def exactly(f):
    """A finite result of an mpmath function as a Fraction."""
    def g(x):
        return to_fraction(f(mpmath.mpf(x)))
    return g


def unary(op, x):
    """The exact result: a float where it is special or representable, else a Fraction."""
    if math.isnan(x):
        return NAN
    if op == "neg":
        return -x
    if op == "abs":
        return abs(x)
    if op == "sign":
        return x if x == 0 else math.copysign(1.0, x)
    if op in ("floor", "ceil", "trunc", "round"):
        if math.isinf(x):
            return x
        f = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round}[op]
        return math.copysign(float(f(x)), x) if f(x) == 0 else float(f(x))
    return TRANSCENDENTAL[op](x)


def at_ends(f, plus, minus, zero=None):
    def g(x):
        if x == INF:
            return plus
        if x == -INF:
            return minus
        if x == 0 and zero is not None:
            return zero(x) if callable(zero) else zero
        return f(x)
    return g


def domain(f, low, at_low, at_infinity=INF):
    """NaN below `low`, at_low there."""
    def g(x):
        if x < low:
            return NAN
        if x == low:
            return at_low(x) if callable(at_low) else at_low
        return at_infinity if x == INF else f(x)
    return g


same_zero = lambda x: x
sqrt = exactly(mpmath.sqrt)
rsqrt = exactly(lambda m: 1 / mpmath.sqrt(m))


def exp_of(base):
    def f(x):
        if x > 1100:  # beyond every format, and too long for a fraction
            return Fraction(2) ** 1100
        if x < -1200:
            return Fraction(1, 2 ** 1200)
        return to_fraction(base(mpmath.mpf(x)))
    return f


def expm1(x):
    return Fraction(2) ** 1100 if x > 1100 else Fraction(-1) + Fraction(1, 2 ** 300) if x < -1200 \
        else to_fraction(mpmath.expm1(x))


def erfc(x):
    return Fraction(1, 2 ** 1200) if x > 40 else to_fraction(mpmath.erfc(x))


def odd_limit(f, far):
    """An odd function that is 1 less nearly nothing beyond `far`."""
    def g(x):
        if abs(x) > far:
            return (1 - Fraction(1, 2 ** 300)) * (1 if x > 0 else -1)
        return to_fraction(f(mpmath.mpf(x)))
    return g


def trig(f):
    def g(x):
        with mpmath.workprec(2600):
            return to_fraction(f(mpmath.mpf(x)))
    return g


half_pi = to_fraction(mpmath.pi / 2)
TRANSCENDENTAL = {
    "sqrt": domain(sqrt, 0.0, same_zero),
    "rsqrt": domain(rsqrt, 0.0, lambda x: math.copysign(INF, x), 0.0),
    "exp": at_ends(exp_of(mpmath.exp), INF, 0.0),
    "exp2": at_ends(exp_of(lambda m: mpmath.power(2, m)), INF, 0.0),
    "expm1": at_ends(expm1, INF, -1.0, same_zero),
    "log": domain(exactly(mpmath.log), 0.0, -INF),
    "log2": domain(exactly(lambda m: mpmath.log(m) / mpmath.log(2)), 0.0, -INF),
    "log1p": lambda x: x if x == 0 else domain(exactly(mpmath.log1p), -1.0, -INF)(x),
    "sin": at_ends(trig(mpmath.sin), NAN, NAN, same_zero),
    "cos": at_ends(trig(mpmath.cos), NAN, NAN, 1.0),
    "tan": at_ends(trig(mpmath.tan), NAN, NAN, same_zero),
    "atan": at_ends(exactly(mpmath.atan), half_pi, -half_pi, same_zero),
    "tanh": at_ends(odd_limit(mpmath.tanh, 1000), 1.0, -1.0, same_zero),
    "erf": at_ends(odd_limit(mpmath.erf, 40), 1.0, -1.0, same_zero),
    "erfc": at_ends(erfc, 0.0, 2.0, 1.0),
}

def arithmetic(op, x, y):
    """+ - * / : Fractions where both are finite and the result is not 0, IEEE otherwise."""
    with np.errstate(all="ignore"):
        a, b = np.float64(x), np.float64(y)
        ieee = float({"add": a + b, "sub": a - b, "mul": a * b, "div": a / b}[op])
    if not (math.isfinite(x) and math.isfinite(y)) or (op == "div" and y == 0):
        return ieee
    X, Y = Fraction(x), Fraction(y)
    exact = {"add": X + Y, "sub": X - Y, "mul": X * Y}[op] if op != "div" else X / Y
    return ieee if exact == 0 else exact


def remainder(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return NAN
    if math.isinf(y):
        return x
    X, Y = Fraction(x), Fraction(y)
    r = X - Y * math.trunc(X / Y)
    return math.copysign(0.0, x) if r == 0 else r


def modulo(x, y):
    r = remainder(x, y)
    if isinstance(r, float) and (math.isnan(r) or r == 0):
        return r
    if (r < 0) == (y < 0):
        return r
    return y if math.isinf(y) else Fraction(r) + Fraction(y)


def floor_quotient(x, y):
    if not (math.isfinite(x) and math.isfinite(y)) or y == 0 or x == 0:
        q = arithmetic("div", x, y)
        return q if not isinstance(q, float) or not math.isfinite(q) or q == 0 else Fraction(math.floor(q))
    q = math.floor(Fraction(x) / Fraction(y))
    return math.copysign(0.0, x) * math.copysign(1.0, y) if q == 0 else Fraction(q)


def power(x, y):
    """C's pow (Annex F)."""
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return NAN
    if x == 0 and y < 0:
        odd = math.isfinite(y) and y == math.floor(y) and math.floor(y) % 2
        return math.copysign(INF, x) if odd else INF
    if not math.isfinite(x) or not math.isfinite(y) or x == 0:
        return math.pow(x, y)
    if x < 0 and y != math.floor(y):
        return NAN
    sign = -1 if x < 0 and math.floor(y) % 2 else 1
    size = mpmath.mpf(y) * mpmath.log(abs(mpmath.mpf(x)), 2)
    if size > 1100:
        return sign * Fraction(2) ** 1100
    if size < -1200:
        return sign * Fraction(1, 2 ** 1200)
    return sign * to_fraction(mpmath.power(abs(mpmath.mpf(x)), mpmath.mpf(y)))


def extreme(op, x, y):
    if x != x or y != y:
        return NAN
    key = lambda v: (v, math.copysign(1, v))  # -0 < 0
    return (max if op == "max" else min)(x, y, key=key)


FLOAT_BINARY = {
    "add": lambda x, y: arithmetic("add", x, y), "sub": lambda x, y: arithmetic("sub", x, y),
    "mul": lambda x, y: arithmetic("mul", x, y), "div": lambda x, y: arithmetic("div", x, y),
    "rem": remainder, "mod": modulo, "floordiv": floor_quotient, "pow": power,
    "min": lambda x, y: extreme("min", x, y), "max": lambda x, y: extreme("max", x, y),
}

# ---- functions of integers, on Python's -----------------------------------------------------------------


def truncated(x, y):
    return 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def int_power(d, x, y):
    if y < 0:
        return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)
    return pow(x, y, 1 << 64)


def shift(d, op, x, y):
    bits, signed = INTS[d]
    inside = 0 <= y < bits
    if op == "shl":
        return x << y if inside else 0
    return x >> y if inside else (-1 if x < 0 else 0)


def int_binary(d, op, x, y):
    table = {
        "add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y,
        "div": lambda: truncated(x, y), "rem": lambda: x - y * truncated(x, y) if y else 0,
        "floordiv": lambda: x // y if y else 0, "mod": lambda: x % y if y else 0,
        "pow": lambda: int_power(d, x, y), "min": lambda: min(x, y), "max": lambda: max(x, y),
        "and": lambda: x & y, "or": lambda: x | y, "xor": lambda: x ^ y,
        "shl": lambda: shift(d, "shl", x, y), "shr": lambda: shift(d, "shr", x, y),
    }
    return wrap(d, table[op]())


def int_unary(d, op, x):
    table = {"neg": -x, "abs": abs(x), "sign": (x > 0) - (x < 0), "not": (1 - x) if d == "bool" else ~x}
    return wrap(d, table[op])
