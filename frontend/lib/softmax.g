# Softmax and its kin along an axis.

# exp(x - max) / sum: a row of -inf gives NaN.
fn softmax(x, axis=-1) {
    h = cast(x, to=wide(x.dtype))
    e = exp(h - max(h, axis=axis, keep=true))
    return cast(e / sum(e, axis=axis, keep=true), to=x.dtype)
}

# A row of -inf gives 0: any other sums to at least exp(0), so that the bound on the sum alters no other.
fn safe_softmax(x, axis=-1) {
    h = cast(x, to=wide(x.dtype))
    m = max(h, axis=axis, keep=true)
    e = exp(h - select(m == -inf, 0.0, m))
    return cast(e / maximum(sum(e, axis=axis, keep=true), 0.5), to=x.dtype)
}

# The logarithm of softmax, without its underflow.
fn log_softmax(x, axis=-1) {
    h = cast(x, to=wide(x.dtype))
    d = h - max(h, axis=axis, keep=true)
    return cast(d - log(sum(exp(d), axis=axis, keep=true)), to=x.dtype)
}
