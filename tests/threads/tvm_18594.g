# tvm#18594: AveragePool of 17, kernel 2, stride 2, one pad behind and ceil_mode gave 10 windows. It has 9, the last of one element.
#: x = [1..17] -> y[9] = [1.5, 3.5, 5.5, 7.5, 9.5, 11.5, 13.5, 15.5, 17] z[1, 1, 9] = [2, 4, 6, 8, 10, 12, 14, 16, 17]
model m(x: f32[17]) -> (y, z) {
    total = window_sum(x, [2], strides=[2], hi=[1])
    count = window_sum(ones([17]), [2], strides=[2], hi=[1])
    y = total / count
    z = max_pool1d(x[None, None], 2, stride=2, ceil_mode=true)
}
