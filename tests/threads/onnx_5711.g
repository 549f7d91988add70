# onnx#5711, onnx#5741: with ceil_mode, a window that lies in the padding alone is dropped: 12, kernel 1, stride 2 gives 6.
#: x = [0..11] -> y[1, 1, 6] = [0, 2, 4, 6, 8, 10]
model m(x: f32[1, 1, 12]) -> (y) {
    y = max_pool1d(x, 1, stride=2, ceil_mode=true)
}
