# mlx#4346: -128 / -1 in i8 trapped. The least divided by -1 wraps, and a division by 0 is 0: of the 65,536 pairs of i8 none differs
# from its result in i32, brought back to i8.
#: x = [-128..127] -> wrong = 0 d = [-128, 64, 42, 0, -128] q = [-128, 64, 42, 0, -128]
model m(x: i8[256]) -> (wrong: i64, d: i8[5], q: i8[5]) {
    a = x[:, None]
    b = x[None, :]
    w = i32(a)
    v = i32(b)
    wrong = sum(i64(i8(w / v) != a / b)) + sum(i64(i8(w // v) != a // b)) + sum(i64(i8(w % v) != a % b))
    wrong = wrong + sum(i64(i8(rem(w, v)) != rem(a, b)))
    by = tensor([-1, -2, -3, 0, 1], dtype=i8)
    d = x[0] / by
    q = x[0] // by
}
