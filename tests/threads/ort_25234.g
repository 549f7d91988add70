# ort#25234: MaxPool of [1, 32, 7, 0] gave an axis of 1. A window larger than the data has no place.
#: x = [] s = [1, 2] -> y[1, 2, 7, 0] = [] z[0] = [] a[1, 2, 7, 0] = []
model m(x: f32[1, 2, 7, 0], s: f32[2]) -> (y, z, a) {
    y = max_pool2d(x, 1)
    z = window_max(s, [4])
    a = avg_pool2d(x, 1)
}
