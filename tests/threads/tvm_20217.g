# tvm#20217, tvm#19436, tvm#19531: negative indices read outside the data. -1 is the last element; what is outside [-3, 3) is an error.
#: x = [10, 20, 30] i = [-1, -3, 0, 2] -> y = [30, 10, 10, 30]
#: x = [10, 20, 30] i = [0, 3, 0, 0] -> index 3
#: x = [10, 20, 30] i = [0, 0, 0, -4] -> index -4
#: x = [10, 20, 30] i = [-9223372036854775808, 0, 0, 0] -> index -9223372036854775808
#: x = [10, 20, 30] i = [9223372036854775807, 0, 0, 0] -> index 9223372036854775807
model m(x: f32[3], i: i64[4]) -> (y: f32[4]) {
    y = gather(x, i)
}
