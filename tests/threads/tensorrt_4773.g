# TensorRT#4773, onnx#6003: Clip(NaN, lo, hi) gave lo, or differed between devices. Every minimum and maximum keeps NaN.
#: x = [nan, -5, 0.5, 7, -inf, inf] -> y = [nan, -1, 0.5, 1, -1, 1] r = [nan, 0, 0.5, 7, 0, inf] top = nan low = nan
#: x = [2, -5, 0.5, 7, -inf, inf] -> y = [1, -1, 0.5, 1, -1, 1] r = [2, 0, 0.5, 7, 0, inf] top = inf low = -inf
#ptx: max.NaN.f32
model m(x: f32[6]) -> (y: f32[6], r: f32[6], top: f32, low: f32) {
    y = clip(x, -1.0, 1.0)
    r = relu(x)
    top = max(x)
    low = min(x)
}
