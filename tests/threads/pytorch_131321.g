# pytorch#131321: a scatter with index -1 failed in one mode and wrapped in the other. It is the last element; updates go in order, the last
# one wins.
#: x = [1, 2, 3] i = [-1, 2, -1] v = [7, 8, 9] -> y = [1, 2, 9] z = [1, 2, 27]
#: x = [1, 2, 3] i = [2, -1, 0] v = [7, 8, 9] -> y = [9, 2, 8] z = [10, 2, 18]
model m(x: f32[3], i: i64[3], v: f32[3]) -> (y: f32[3], z: f32[3]) {
    y = scatter_set(x, i, v)
    z = scatter_add(x, i, v)
}
