# pytorch#187018: -abs(200) in u8, four of them concatenated and summed, was -800. Each is 56; the sum is 224 in u8.
#: x = [200, 200] -> s = 224 w = 224 c = [56*4]
model m(x: u8[2]) -> (s: u8, w: i32, c: u8[4]) {
    c = concat([-abs(x), -abs(x)])
    s = sum(c)
    w = sum(c, dtype=i32)
}
