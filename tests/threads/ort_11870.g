# ort#11870: an optimised sum of broadcast operands had the shape [5, 50, 1] in place of [1, 5, 50, 1].
#: a = [1*50] b = [1*50] c = [1*5] -> y[1, 5, 50, 1] = [3*250] z[1, 5, 50, 1] = [2*250]
model m(a: f32[1, 50, 1], b: f32[1, 50, 1], c: f32[5, 1, 1]) -> (y, z) {
    wide = a[None] + b
    y = broadcast_to(wide, [1, 5, 50, 1]) + c
    z = concat([wide, wide, wide, wide, wide], axis=1) * 1.0
}
