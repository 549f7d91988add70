# pytorch#198270: x.index_put_(…); x += flip(x): a write was fused with a read of other places.
#: x = [1, 2, 3, 4] i = 1 v = 10 -> y = [5, 13, 13, 5] z = [10, 36, 36, 10]
model m(x: f32[4], i: i64, v: f32) -> (y: f32[4], z: f32[4]) {
    x = scatter_set(x, i, v)
    x = x + reverse(x, 0)
    y = x
    x = scatter_add(x, i, v)
    z = x + reverse(x, 0)
}
