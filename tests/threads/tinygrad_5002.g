# tinygrad#5002: a reciprocal was moved over a pad, and 1/x taken of the padded 0. The pad's value comes after.
#: x = [2, 4] -> r = [0, 0.5, 0.25, 0] e = [0, 1, 1, 0] w = 0.75
model m(x: f32[2]) -> (r: f32[4], e: f32[4], w: f32) {
    r = pad(1.0 / x, [1], [1])
    e = pad(exp(x - x), [1], [1])
    w = sum(pad(1.0 / x, [1], [1]))
}
