# pytorch#161150: softmax(x * s), where a product is +inf, was a row of 1.0 when compiled and NaN when not.
# inf - inf is NaN, and so is every element of a row that holds +inf.
#: x = [1, -1, 2, 1, 2, 3] s = [inf, 1] -> y ~1e-6 [nan, nan, nan, 0.0900305732, 0.244728471, 0.665240956]
#: x = [1, -1, 2, 0, 0, 0] s = [-inf, inf] -> y = [nan*6]
model m(x: f32[2, 3], s: f32[2]) -> (y: f32[2, 3]) {
    y = softmax(x * s[:, None])
}
