# openxla/xla#9431: all(x == y, -1) of i8[12] and i8[2, 12] was false.
#: x = [1..12] y = [1..12, 1..12] -> same = [true, true]
#: x = [1..12] y = [1..12, 1..11, 0] -> same = [true, false]
model m(x: i8[12], y: i8[2, 12]) -> (same: bool[2]) {
    same = all(x == y, axis=-1)
}
