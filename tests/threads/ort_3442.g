# ort#3442: QuantizeLinear to i8 saturated at -127. A cast of the rounded quotient saturates at both ends of the dtype.
#: x = [-129, -128, -127.5, -127, 127, 128, 0.5, 1.5, nan, -inf] scale = 1
#:     -> y = [-128, -128, -128, -127, 127, 127, 0, 2, 0, -128] u = [0, 0, 0, 1, 255, 255, 128, 130, 0, 0]
#: x = [-64, -63.9, -1, 0, 1, 63.5, 63.9, 64, 99, inf] scale = 0.5
#:     -> y = [-128, -128, -2, 0, 2, 127, 127, 127, 127, 127] u = [0, 0, 126, 128, 130, 255, 255, 255, 255, 255]
model m(x: f32[10], scale: f32) -> (y: i8[10], u: u8[10]) {
    y = i8(round(x / scale))
    u = u8(round(x / scale) + 128.0)
}
