# ort#29034, TensorRT#2564: squares of f16 beyond 255 overflow before they are summed. What the library sums it sums in f32, and a
# contraction of f16 does too.
#: x = [300, 400, 500, 600] -> v = 12496 n = [-1.341796875, -0.447265625, 0.447265625, 1.341796875] d = 860000
model m(x: f16[4]) -> (v: f16, n: f16[4], d: f32) {
    v = variance(x)
    c = f32(x) - mean(f32(x))
    n = f16(c / sqrt(variance(f32(x))))
    d = einsum("k,k->", x, x, dtype=f32)
}
