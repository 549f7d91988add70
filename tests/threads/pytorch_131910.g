# pytorch#131910, pytorch#156788, tinygrad#6305: -2.0 to u8 was 0 in vectors and 254 in what was left over, by size. A cast saturates.
#: x = [-2*3] -> y = [0*3] z = [-2*3]
#: x = [-2*8] -> y = [0*8] z = [-2*8]
#: x = [-2*450] -> y = [0*450] z = [-2*450]
#: x = [nan, inf, -inf, 300, -300, 255.9, 1e30] -> y = [0, 255, 0, 255, 0, 255, 255] z = [0, 127, -128, 127, -128, 127, 127]
dim N in 1..500
model m(x: f32[N]) -> (y: u8[N], z: i8[N]) {
    y = u8(x)
    z = i8(x)
}
