# ort#8146, ort#7563, ort#26041: ReduceSum over an axis of 0 kept the 0 or failed.
#: x = [] -> y[3, 1, 4] = [0*12] z[3, 4] = [0*12] w = 0
model m(x: f32[3, 0, 4]) -> (y, z, w) {
    y = sum(x, axis=1, keep=true)
    z = sum(x, axis=1)
    w = sum(x)
}
