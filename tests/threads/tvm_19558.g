# tvm#19558: ArgMax of [2, NaN, 7, 4, 1] was 2. The first NaN is the greatest; openvino#33626: of 58 NaNs a GPU gave the sixth.
#: x = [2, nan, 7, 4, 1] -> y = 1 z = 1
#: x = [nan*58] -> y = 0 z = 0
#: x = [3, 7, 7, 3, -1, 0, 5, 7] -> y = 1 z = 4
dim N in 1..99
model m(x: f32[N]) -> (y: i64, z: i64) {
    y = argmax(x)
    z = argmin(x)
}
