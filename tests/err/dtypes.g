dim N in 1..256

model m(x: f32[N, 4], i: i64[N, 4], b: bool[N, 4], u: u8[N, 4], h: f16[N, 4], e: f8e4m3[N]) -> (y: f32[N, 4]) {
    c1 = x + i                           # error: dtype-mismatch@12
    c2 = i + 1.5                         # error: literal-range@14
    c3 = u + 256                         # error: literal-range@14
    c4 = u - -1                          # error: literal-range@14
    c5 = h * 1e6                         # error: literal-range@14
    c6 = e + inf                         # error: literal-range@14
    c7 = x * true                        # error: literal-range@14
    c8 = x and b                         # error: dtype-mismatch@12
    c9 = not x                           # error: needs-bool@10
    d1 = i and i                         # error: needs-bool@12
    d2 = sqrt(i)                         # error: dtype-refused@10
    d3 = mean(i)                         # error: mean-dtype@15
    d4 = any(i)                          # error: needs-bool@14
    d5 = i @ x.T                         # error: dtype-mismatch@12
    d6 = select(x, x, x)                 # error: dtype-condition
    d7 = gather(x, h)                    # error: dtype-index
    d8 = N * 0.5                         # error: literal-range@14
    d9 = x + N                           # error: dtype-mismatch@12
    e1 = concat([x, i])                  # error: dtype-mismatch@10
    e2 = pad(x, 1, 1, i)                 # error: dtype-mismatch@10
    e3 = sum(x, dtype=i32)               # error: dtype-result@10
    e4 = random_bits(x, [N])             # error: dtype-refused@10
    e5 = b + b                           # error: dtype-refused@12
    e6 = x if x else x                   # error: dtype-condition@12
    e7 = bit_and(x, x)                   # error: dtype-refused@10
    e8 = i32(300.5) + u8(300)            # error: literal-range@26
    y = x
}
