#!/usr/bin/env python3
"""Writes math_coefficients.h: the polynomials and constants of the elementwise functions.

Needs mpmath. Usage: math_coefficients.py > math_coefficients.h

Method. Each function is written as known leading terms plus or times a smooth factor (say sin x = x
+ x^3 S(x^2)). The factor's polynomial is the least-squares fit at three times as many Chebyshev
nodes as coefficients, weighted so that the relative error of the whole function is what is made
small; that is within a small factor of the minimax error (Trefethen, Approximation Theory and
Approximation Practice, ch. 16). Coefficients are rounded one after another from the lowest degree
up: c0 is rounded to the target format, the rest is fitted again with c0 held, and so on, so that
each coefficient makes up for the rounding of those before it. The error of the polynomial with its
rounded coefficients is measured on a dense grid and printed beside the table, as log2 of the
largest error of the function relative to its value.
"""

from mpmath import (
    atan,
    cos,
    erf,
    erfc,
    exp as e_to,
    fabs,
    fdot,
    floor,
    log,
    log1p,
    lu_solve,
    matrix,
    mp,
    mpf,
    pi,
    sin,
    sqrt,
    tan,
    tanh,
)

mp.prec = 400
BITS = {"f32": 24, "f64": 53}


def round_to(x, bits):
    """x rounded to nearest even with `bits` bits of mantissa."""
    if x == 0:
        return mpf(0)
    with mp.workprec(bits):
        return +x


def least_squares(f, weight, low, high, start, count):
    """Coefficients of x^start .. x^(count-1) of the polynomial nearest to f at Chebyshev nodes."""
    size = 3 * count
    nodes = [
        (low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * size))
        for k in range(size)
    ]
    terms = count - start
    rows = [
        [weight(x) * x ** (start + column) for column in range(terms)] + [weight(x) * f(x)]
        for x in nodes
    ]
    sums = [
        [fdot((row[i], row[j]) for row in rows) for j in range(terms + 1)] for i in range(terms)
    ]
    return list(
        lu_solve(matrix([row[:terms] for row in sums]), matrix([row[terms] for row in sums]))
    )


def horner(coefficients, x):
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def rounded_fit(f, weight, low, high, count, bits):
    rounded = []
    while len(rounded) < count:
        rest = least_squares(
            lambda x: f(x) - horner(rounded, x), weight, low, high, len(rounded), count
        )
        rounded.append(round_to(rest[0], bits))
    return rounded


def worst(approximation, truth, low, high):
    points = [low + (high - low) * mpf(k) / 400 for k in range(401)]
    errors = [fabs(approximation(x) / truth(x) - 1) for x in points if truth(x) != 0]
    return float(log(max(errors), 2))


def table(name, values, note):
    print("// %s" % note)
    print("static const double %s[] = {" % name)
    for value in values:
        print("    %s, // %.17g" % (float(value).hex(), float(value)))
    print("};\n")


def emit(name, fmt, f, low, high, count, whole, truth, note):
    """A table for factor f on [low, high]; whole(factor value, x) rebuilds the function, truth is the function; the
    variable of both is that of f."""
    weight = lambda x: (whole(mpf(1), x) - whole(mpf(0), x)) / truth(x)
    coefficients = rounded_fit(f, weight, mpf(low), mpf(high), count, BITS[fmt])
    error = worst(lambda x: whole(horner(coefficients, x), x), truth, mpf(low), mpf(high))
    table("%s_%s" % (name, fmt), coefficients, "%s; 2^%.1f" % (note, error))


def series(f, terms, point=mpf(0)):
    """f near a removable singularity: the caller gives the Taylor terms used for |x| < 2^-40."""
    return lambda x: horner(terms, x) if fabs(x) < mpf(2) ** -40 else f(x)


def fact(n):
    return mp.factorial(n)


def exp_tables(fmt, count_e, count_2):
    half = log(mpf(2)) / 2 * mpf("1.0001")
    f = series(lambda r: (e_to(r) - 1 - r) / r**2, [1 / fact(k + 2) for k in range(6)])
    emit(
        "exp",
        fmt,
        f,
        -half,
        half,
        count_e,
        lambda p, r: 1 + r + r * r * p,
        e_to,
        "e^r = 1 + r + r^2 P(r), |r| <= ln 2 / 2",
    )
    l2 = log(mpf(2))
    f = series(lambda r: (mpf(2) ** r - 1) / r, [l2 ** (k + 1) / fact(k + 1) for k in range(6)])
    emit(
        "exp2",
        fmt,
        f,
        -0.5,
        0.5,
        count_2,
        lambda p, r: 1 + r * p,
        lambda r: mpf(2) ** r,
        "2^r = 1 + r P(r), |r| <= 1/2",
    )


def log_tables(fmt, count_series, count_pow):
    low, high = sqrt(mpf(2)) / 2 - 1, sqrt(mpf(2)) - 1
    if fmt == "f32":
        f = series(
            lambda x: (log1p(x) - x + x * x / 2) / x**3,
            [mpf((-1) ** k) / (k + 3) for k in range(6)],
        )
        emit(
            "log",
            fmt,
            f,
            low,
            high,
            count_series,
            lambda p, x: x - x * x / 2 + x**3 * p if x != 0 else mpf(1),
            lambda x: log1p(x) if x != 0 else mpf(1),
            "log(1 + f) = f - f^2/2 + f^3 P(f), 1 + f in [sqrt(1/2), sqrt(2)]",
        )
    top = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2
    atanh = lambda s: log((1 + s) / (1 - s)) / 2
    if fmt == "f64":
        f = series(
            lambda z: 2 * (atanh(sqrt(z)) / sqrt(z) - 1) / z,
            [mpf(2) / (2 * k + 3) for k in range(6)],
        )
        emit(
            "log",
            fmt,
            f,
            0,
            top,
            count_series,
            lambda p, z: 2 + z * p,
            lambda z: 2 * atanh(sqrt(z)) / sqrt(z) if z != 0 else mpf(2),
            "log((1+s)/(1-s)) = 2s + s z P(z), z = s^2",
        )
    f = series(
        lambda z: (atanh(sqrt(z)) / sqrt(z) - 1 - z / 3) / z**2,
        [mpf(1) / (2 * k + 5) for k in range(6)],
    )
    emit(
        "pow",
        fmt,
        f,
        0,
        top,
        count_pow,
        lambda p, z: 1 + z / 3 + z * z * p,
        lambda z: atanh(sqrt(z)) / sqrt(z) if z != 0 else mpf(1),
        "atanh(s) = s (1 + z/3 + z^2 P(z)), z = s^2",
    )


def trig_tables(fmt, count_sin, count_cos, count_tan, count_atan):
    top = (pi / 4 * mpf("1.0001")) ** 2
    root = sqrt
    f = series(
        lambda z: (sin(root(z)) / root(z) - 1) / z,
        [(-1) ** (k + 1) / fact(2 * k + 3) for k in range(6)],
    )
    emit(
        "sin",
        fmt,
        f,
        0,
        top,
        count_sin,
        lambda p, z: 1 + z * p,
        lambda z: sin(root(z)) / root(z) if z else mpf(1),
        "sin r = r + r z P(z), z = r^2, |r| <= pi/4",
    )
    f = series(
        lambda z: (cos(root(z)) - 1 + z / 2) / z**2, [(-1) ** k / fact(2 * k + 4) for k in range(6)]
    )
    emit(
        "cos",
        fmt,
        f,
        0,
        top,
        count_cos,
        lambda p, z: 1 - z / 2 + z * z * p,
        lambda z: cos(root(z)),
        "cos r = 1 - z/2 + z^2 P(z), z = r^2",
    )
    f = series(lambda z: (tan(root(z)) / root(z) - 1) / z, [mpf(1) / 3, mpf(2) / 15, mpf(17) / 315])
    emit(
        "tan",
        fmt,
        f,
        0,
        top,
        count_tan,
        lambda p, z: 1 + z * p,
        lambda z: tan(root(z)) / root(z) if z else mpf(1),
        "tan r = r + r z P(z), z = r^2",
    )
    top = (tan(pi / 8) * mpf("1.0001")) ** 2
    f = series(
        lambda z: (atan(root(z)) / root(z) - 1) / z,
        [mpf((-1) ** (k + 1)) / (2 * k + 3) for k in range(6)],
    )
    emit(
        "atan",
        fmt,
        f,
        0,
        top,
        count_atan,
        lambda p, z: 1 + z * p,
        lambda z: atan(root(z)) / root(z) if z else mpf(1),
        "atan t = t + t z P(z), z = t^2, |t| <= tan(pi/8)",
    )


TANH_EDGE = mpf("0.55")
ERF_EDGE = {"f32": mpf("0.92"), "f64": mpf(1)}
EXPONENTS = {"f32": (-126, 128), "f64": (-1022, 1024)}
ERFC_CENTRE = {"f32": mpf(2), "f64": mpf(4)}
ERFC_START = mpf("0.46")
ERFC_END = {"f32": mpf("9.2"), "f64": mpf("26.6")}


def hyper_tables(fmt, count_tanh, count_erf, count_erfc):
    root = sqrt
    f = series(
        lambda z: (tanh(root(z)) / root(z) - 1) / z, [mpf(-1) / 3, mpf(2) / 15, mpf(-17) / 315]
    )
    emit(
        "tanh",
        fmt,
        f,
        0,
        TANH_EDGE**2,
        count_tanh,
        lambda p, z: 1 + z * p,
        lambda z: tanh(root(z)) / root(z) if z else mpf(1),
        "tanh x = x + x z P(z), z = x^2, |x| <= 0.55",
    )
    two = 2 / sqrt(pi)
    f = series(lambda z: erf(root(z)) / root(z) - 1, [two - 1, -two / 3, two / 10])
    emit(
        "erf",
        fmt,
        f,
        0,
        ERF_EDGE[fmt] ** 2,
        count_erf,
        lambda p, z: 1 + p,
        lambda z: erf(root(z)) / root(z) if z else two,
        "erf x = x + x P(z), z = x^2, |x| <= %s" % mp.nstr(ERF_EDGE[fmt], 3),
    )
    centre = ERFC_CENTRE[fmt]
    back = lambda q: centre * (1 + q) / (1 - q)
    f = lambda q: erfc(back(q)) * e_to(back(q) ** 2) * (1 + 2 * back(q))
    end = (ERFC_END[fmt] - centre) / (ERFC_END[fmt] + centre)
    start = (ERFC_START - centre) / (ERFC_START + centre)
    emit(
        "erfc",
        fmt,
        f,
        start,
        end,
        count_erfc,
        lambda p, q: p,
        f,
        "erfc(x) e^(x^2) (1 + 2x) = P((x - %d) / (x + %d)), 0.46 <= x <= %s"
        % (centre, centre, mp.nstr(ERFC_END[fmt], 3)),
    )


def erf_tail_table():
    """-log(erfc(x)) on [0.92, 3.95] for f32's erf = 1 - erfc; the error counts against erf, so small erfc may be off more."""
    low, high = mpf("0.91"), mpf("3.95")
    f = lambda x: -log(erfc(x))
    coefficients = rounded_fit(f, lambda x: erfc(x) / erf(x), low, high, 9, 24)
    error = worst(lambda x: 1 - e_to(-horner(coefficients, x)), erf, low, high)
    table(
        "erf_tail_f32",
        coefficients,
        "-log(erfc(x)) = P(x), 0.91 <= x <= 3.95; 2^%.1f of erf" % error,
    )


def limit_tables(fmt):
    bits, (least, top) = BITS[fmt], EXPONENTS[fmt]
    finite = log(mpf(2) ** top * (1 - mpf(2) ** (-bits - 1)))  # beyond it, e^x rounds to infinity
    down = round_to(finite, bits)
    while down > finite:
        down = round_to(down * (1 - mpf(2) ** -bits), bits)
    normal = round_to(log(mpf(2)) * least * (1 - mpf(2) ** -(bits + 2)), bits)
    low, high = mpf(1), mpf(30)  # where erfc(x) reaches the least normal number
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle) > mpf(2) ** least else (low, middle)
    table(
        "limits_%s" % fmt,
        [down, normal, round_to(low * (1 - mpf(2) ** -bits), bits)],
        "the last x with e^x finite; the first with e^x normal; the last with erfc(x) normal",
    )


def split_constant(name, value):
    """name_f32[2], name_f64[2]: the value as an unevaluated sum of two numbers."""
    for fmt, bits in BITS.items():
        high = round_to(value, bits)
        table("%s_%s" % (name, fmt), [high, round_to(value - high, bits)], "%s = [0] + [1]" % name)


def two_over_pi(name, width, pad, count):
    """Words of `width` bits, most significant first, of 2/pi after `pad` zero bits."""
    bits = int(floor(2 / pi * mpf(2) ** (width * count - pad)))
    words = [(bits >> (width * (count - 1 - k))) & ((1 << width) - 1) for k in range(count)]
    print("// The fraction bits of 2/pi in words of %d, after %d zero bits." % (width, pad))
    print("static const uint32_t %s[%d] = {" % (name, count))
    for k in range(0, count, 8):
        print("    " + " ".join("0x%08x," % w for w in words[k : k + 8]))
    print("};\n")


def main():
    print("// Written by math_coefficients.py, where the method stands; do not edit.")
    print("// clang-format off")
    print(
        "// Lowest degree first. After each formula: log2 of the relative error of the approximation."
    )
    print(
        "#ifndef TCC_CODEGEN_LOWER_MATH_COEFFICIENTS_H\n#define TCC_CODEGEN_LOWER_MATH_COEFFICIENTS_H\n"
    )
    print("#include <stdint.h>\n")
    for fmt, wide in (("f32", False), ("f64", True)):
        exp_tables(fmt, 10 if wide else 5, 12 if wide else 7)
        log_tables(fmt, 7 if wide else 8, 8 if wide else 3)
        trig_tables(fmt, 6 if wide else 3, 6 if wide else 3, 15 if wide else 7, 11 if wide else 5)
        hyper_tables(fmt, 12 if wide else 5, 13 if wide else 7, 26 if wide else 11)
        limit_tables(fmt)
    erf_tail_table()
    split_constant("ln2", log(mpf(2)))
    split_constant("log2e", 1 / log(mpf(2)))
    split_constant("two_log2e", 2 / log(mpf(2)))
    split_constant("third", mpf(1) / 3)
    split_constant("half_pi", pi / 2)
    split_constant("quarter_pi", pi / 4)
    mp.prec = 1700
    two_over_pi("two_over_pi_32", 32, 64, 9)
    two_over_pi("two_over_pi_28", 28, 112, 50)
    print("#endif")


main()
