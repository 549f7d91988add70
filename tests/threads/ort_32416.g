# ort#32416: dropping a cast to the same dtype and folding 1/1 * x, each alone fine, left a graph without a producer.
#: x = [1.5, -0.0, nan, inf] h = [0.1, 2, 65504, -3] -> y = [1.5, 0, nan, inf] z = [0.1, 2, 65504, -3] q = [0.5, -inf, nan, 0]
model m(x: f32[4], h: f16[4]) -> (y: f32[4], z: f16[4], q: f32[4]) {
    one = 1.0 / tensor(1.0)
    y = f32(x) * one + 0.0
    z = f16(f32(f16(h))) * f16(one)
    q = 1.0 / f32(x) * tensor(0.75)
}
