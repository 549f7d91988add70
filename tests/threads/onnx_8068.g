# onnx#8068: a row of -inf in a masked softmax. The formula says 0/0, NaN; who wants 0 writes safe_softmax.
#: x = [-inf, -inf, -inf] -> y = [nan*3] z = [0*3]
#: x = [-inf, 5, -inf] -> y = [0, 1, 0] z = [0, 1, 0]
model m(x: f32[3]) -> (y: f32[3], z: f32[3]) {
    y = softmax(x)
    z = safe_softmax(x)
}
