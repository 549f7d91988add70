# Every core op that the language reaches, in one model.
dim N in 2..16 tune 4

model every(x: f32[N, 4], i: i64[N, 4], b: bool[N, 4], c: f32[N, 2, 5], key: u64) -> (y: f32) {
    param w: f32[3, 2, 3] = 0.5
    t = neg(x) + abs(x) - sign(x) * floor(x) / ceil(x) // trunc(x) % round(x)
    t = t + rsqrt(sqrt(x)) + exp(x) + exp2(x) + expm1(x) + log(x) + log2(x) + log1p(x)
    t = t + sin(x) + cos(x) + tan(x) + atan(x) + tanh(x) + erf(x) + erfc(x)
    t = rem(t, x) + pow(x, 2.0) + maximum(x, t) + minimum(x, t)
    k = bit_and(i, 3) + bit_or(i, 3) + bit_xor(i, 3) + shift_left(i, 1) + shift_right(i, 1) + bit_not(i)
    p = (i == k) or (i != k) and not (i < k) or (i <= k) and (i > k) or (i >= k) and b
    t = select(p, t, f32(k)) + f32(N)
    t = t + sum(t, axis=0) + prod(t, axis=0) + max(t, axis=0) + min(t, axis=0)
    t = t + f32(argmax(t, axis=1, keep=true) + argmin(t, axis=1, keep=true))
    t = cum_sum(t, 0) + cum_prod(t, 0) + cum_max(t, 0) + cum_min(t, 0)
    t = reverse(pad(concat([t.T, x.T])[1:, :], [1, 0], [0, 0]), 0)
    t = reshape(t, [-1]) + broadcast_to(f32(1), [1])
    g = gather(t, [0, 1])
    g = scatter_set(scatter_add(scatter_mul(scatter_max(scatter_min(g, [0], 1), [0], 2), [0], 3), [1], 4), [0], 5)
    v = conv(c, w)
    m = window_sum(v, [1, 1, 2]) + window_max(v, [1, 1, 2]) + window_min(v, [1, 1, 2])
    s, places = sort(m)
    best, order = topk(s, 1)
    r = cast(random_bits(key, [2]), to=f32) + cast(iota([2]), to=f32)
    y = sum(g * r) + sum(best) + f32(sum(places + order)) + x[0] @ x[1]
}
