# ort#28291: Resize nearest, half_pixel, round_prefer_ceil, 20 to 6: element 4 lies at 14.5 and is 15. Indices made of whole numbers have
# no rounding: ceil((i + 1/2) 20/6 - 1) = floor((2 i + 1) 20 / 12). onnx#7841 lists 4 for element 1, whose place is 4.5: it is 5.
#: x = [0..19] -> y = [1, 5, 8, 11, 15, 18]
model m(x: f32[20]) -> (y: f32[6]) {
    y = gather(x, (arange(6) * 2 + 1) * 20 // 12)
}
