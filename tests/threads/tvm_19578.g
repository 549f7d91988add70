# tvm#19578: [4, 0] @ [0, 4] was whatever lay in memory. Over nothing a sum is 0, a product 1, a maximum -inf or the least, a mean NaN.
#: a = [] b = [] k = [] -> y = [0*16] s = [0*4] p = [1*4] t = [-inf*4] l = [inf*4] m = [nan*4] i = -2147483648
#:     j = 2147483647 every = true some = false
model m(a: f32[4, 0], b: f32[0, 4], k: i32[0]) -> (
    y: f32[4, 4], s: f32[4], p: f32[4], t: f32[4], l: f32[4], m: f32[4], i: i32, j: i32, every: bool, some: bool) {
    y = a @ b
    s = sum(a, axis=1)
    p = prod(a, axis=1)
    t = max(a, axis=1)
    l = min(b, axis=0)
    m = mean(a, axis=1)
    i = max(k)
    j = min(k)
    every = all(k == 0)
    some = any(k == 0)
}
