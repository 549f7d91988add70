# ort#16586, ort#26288, onnx#6103, onnx#7137: a reduction over no axes is the identity; that of squares still squares.
#: x = [1, -2, 3] -> s[3] = [1, -2, 3] m[3] = [1, -2, 3] t[3] = [1, -2, 3] q[3] = [1, 4, 9]
model m(x: f32[3]) -> (s, m, t, q) {
    s = sum(x, axis=[])
    m = mean(x, axis=[])
    t = max(x, axis=[])
    q = sum(x * x, axis=[])
}
