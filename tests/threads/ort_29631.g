# ort#29631: AveragePool of 1..9 with pads (0, 3), kernel 7, stride 3, ceil_mode: begin pads alone were counted. Padding counts as an
# element, what lies beyond it does not: the last window is (7 + 8 + 9) / 6.
#: x = [1..9] -> y[3] ~1e-6 [4, 5.57142857, 4]
model m(x: f32[9]) -> (y) {
    total = window_sum(x, [7], strides=[3], hi=[4])
    y = total / window_sum(ones([12]), [7], strides=[3], hi=[1])
}
