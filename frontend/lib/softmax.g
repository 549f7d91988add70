# Softmax and its kin along an axis.

# exp(x - max) / sum: a row of -inf gives NaN.
fn softmax(x, axis=-1) {
    h = cast(x, to=wide(x.dtype))
    e = exp(h - max(h, axis=axis, keep=true))
    return cast(e / sum(e, axis=axis, keep=true), to=x.dtype)
}

# A row of -inf gives 0.
fn safe_softmax(x, axis=-1) {
    h = cast(x, to=wide(x.dtype))
    m = max(h, axis=axis, keep=true)
    e = exp(h - select(m == -inf, 0.0, m))
    s = sum(e, axis=axis, keep=true)
    return cast(e / select(s == 0.0, 1.0, s), to=x.dtype)
}

# The logarithm of softmax, without its underflow.
fn log_softmax(x, axis=-1) {
    h = cast(x, to=wide(x.dtype))
    d = h - max(h, axis=axis, keep=true)
    return cast(d - log(sum(exp(d), axis=axis, keep=true)), to=x.dtype)
}
