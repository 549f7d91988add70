# tinygrad#9674: (a k + r) // k was folded as if C's division rounded down. / truncates, // rounds down, % goes with //.
#: a = [-7, -1, 0, 1, 7] r = [3, -3, -1, 5, -6] -> q = [-7, -2, -1, 2, 5] t = [-6, -1, 0, 2, 5] m = [3, 1, 3, 1, 2]
#:      back = [-7, -1, 0, 1, 7]
model m(a: i32[5], r: i32[5]) -> (q: i32[5], t: i32[5], m: i32[5], back: i32[5]) {
    q = (a * 4 + r) // 4
    t = (a * 4 + r) / 4
    m = (a * 4 + r) % 4
    back = (a * 4) // 4
}
