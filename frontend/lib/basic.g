# Layers and helpers that the others build on.

# x times weight transposed, plus bias: weight[out, in] and bias[out], as torch.nn.Linear.
fn linear(x, out, bias=true) {
    param weight: x.dtype[out, x.shape[-1]]
    y = matmul(x, weight.T, dtype=wide(x.dtype))
    if bias {
        param bias: x.dtype[out]
        y = y + cast(bias, to=y.dtype)
    }
    return cast(y, to=x.dtype)
}

# Rows of a table weight[count, width] by index, as torch.nn.Embedding.
fn embedding(ids, count, width, dtype=f32) {
    param weight: dtype[count, width]
    return gather(weight, ids)
}

# 1 at the index, 0 elsewhere, along a new last axis.
fn one_hot(ids, classes, dtype=f32) {
    hit = reshape(ids, ids.shape + [1]) == arange(classes, dtype=ids.dtype)
    return cast(hit, to=dtype)
}

# The axes from `start` on as one.
fn flatten(x, start=0) {
    return reshape(x, x.shape[:start] + [-1])
}

# Within lo and hi; NaN stays.
fn clip(x, lo, hi) {
    return minimum(maximum(x, lo), hi)
}

# The mean of squared deviations from the mean.
fn variance(x, axis=None, keep=false) {
    h = cast(x, to=wide(x.dtype))
    d = h - mean(h, axis=axis, keep=true)
    return cast(mean(d * d, axis=axis, keep=keep), to=x.dtype)
}

# log(sum(exp(x))), without overflow.
fn logsumexp(x, axis=-1, keep=false) {
    h = cast(x, to=wide(x.dtype))
    m = max(h, axis=axis, keep=true)
    m = select(abs(m) == inf, 0.0, m)
    s = log(sum(exp(h - m), axis=axis, keep=keep))
    y = s + (m if keep else sum(m, axis=axis))
    return cast(y, to=x.dtype)
}

# Uniform in [0, 1), with 24 random bits.
fn uniform(key, shape, dtype=f32) {
    bits = shift_right(random_bits(key, shape), 8)
    return cast(cast(bits, to=f32) * 5.9604644775390625e-8, to=dtype)
}

# Standard normal, by Box and Muller.
fn normal(key, shape, dtype=f32) {
    radius = sqrt(-2.0 * log(1.0 - uniform(key, shape)))
    return cast(radius * cos(2.0 * pi * uniform(key, shape)), to=dtype)
}
