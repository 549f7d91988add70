# tvm#19533: Clip with a bound of NaN: one ignores the bound, another gives NaN. Here NaN propagates, from a bound as well.
#: x = [1, 2, 3] lo = 0 hi = nan -> y = [nan*3]
#: x = [1, 2, 3] lo = nan hi = 9 -> y = [nan*3]
#: x = [1, 2, 3] lo = 2 hi = 2.5 -> y = [2, 2, 2.5]
model m(x: f32[3], lo: f32, hi: f32) -> (y: f32[3]) {
    y = clip(x, lo, hi)
}
