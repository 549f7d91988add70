# tvm#19436, tvm#19531: the same for scatters and for places along an inner axis.
#: x = [1..6] i = [-1, 0] v = [7, 8, 9, 10] -> s = [8, 2, 7, 10, 5, 9] a = [9, 2, 10, 14, 5, 15] g = [3, 1, 6, 4]
#: x = [1..6] i = [1, -4] v = [7, 8, 9, 10] -> index -4
model m(x: f32[2, 3], i: i64[2], v: f32[2, 2]) -> (s: f32[2, 3], a: f32[2, 3], g: f32[2, 2]) {
    s = scatter_set(x, i, v, axis=1)
    a = scatter_add(x, i, v, axis=1)
    g = gather(x, i, axis=1)
}
