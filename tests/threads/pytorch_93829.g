# pytorch#93829: -6 in u8 is 250, and 250 < 4 was true.
#: x = [6, 0, 255, 252] -> n = [250, 0, 1, 4] less = [false, true, true, false]
model m(x: u8[4]) -> (n: u8[4], less: bool[4]) {
    n = -x
    less = -x < 4
}
