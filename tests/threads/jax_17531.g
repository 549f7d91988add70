# jax#17531: a maximum over more than 8192 floats was -inf. triton#2483: a reduction read shared memory that nobody had written.
#: x = [-5*8192, -3] -> y = -3 l = -5 s = -40963 i = 8192
#: x = [-5*9999, -7] -> y = -5 l = -7 s = -50002 i = 0
#: x = [-7] -> y = -7 l = -7 s = -7 i = 0
#: x = [-2*33] -> y = -2 l = -2 s = -66 i = 0
dim N in 1..20000
model m(x: f32[N]) -> (y: f32, l: f32, s: f32, i: i64) {
    y = max(x)
    l = min(x)
    s = sum(x)
    i = argmax(x)
}
