# tvm#20170: the folder of Mod had fmod=0 and fmod=1 swapped, in code and test alike. % has the sign of the divisor, rem that of
# the dividend.
#: a = [-5, 5, -5, 5] b = [3, -3, -3, 3] x = [-5.5, 5.5, -5.5, 5.5] y = [3, -3, -3, 3]
#:     -> m = [1, -1, -2, 2] r = [-2, 2, -2, 2] f = [0.5, -0.5, -2.5, 2.5] g = [-2.5, 2.5, -2.5, 2.5]
model m(a: i32[4], b: i32[4], x: f32[4], y: f32[4]) -> (m: i32[4], r: i32[4], f: f32[4], g: f32[4]) {
    m = a % b
    r = rem(a, b)
    f = x % y
    g = rem(x, y)
}
