# pytorch#190421: log(0) as an i32, at compile time, crashed the compiler. -inf is the least integer, as at run time.
#: x = [0, 1, inf, -1] -> y = [-2147483648, 0, 2147483647, 0] s = -1 u = [0, 0, 18446744073709551615, 0]
model m(x: f32[4]) -> (y: i32[4], s: i32, u: u64[4]) {
    y = i32(log(x))
    s = sum(i32(log(x)))
    u = u64(log(x))
}
