# Normalisation. Parameters are named as in torch.nn. The width is that of x, so that a number such as 64 in the place
# of eps is a mistake.

# Over the last axis, with weight and bias.
fn layer_norm(x, eps=1e-5) {
    assert eps < 1.0
    param weight: x.dtype[x.shape[-1]]
    param bias: x.dtype[x.shape[-1]]
    h = cast(x, to=wide(x.dtype))
    d = h - mean(h, axis=-1, keep=true)
    y = d * rsqrt(mean(d * d, axis=-1, keep=true) + eps)
    return cast(y * cast(weight, to=h.dtype) + cast(bias, to=h.dtype), to=x.dtype)
}

# By the root of the mean square over the last axis, with weight.
fn rms_norm(x, eps=1e-6) {
    assert eps < 1.0
    param weight: x.dtype[x.shape[-1]]
    h = cast(x, to=wide(x.dtype))
    y = h * rsqrt(mean(h * h, axis=-1, keep=true) + eps)
    return cast(y * cast(weight, to=h.dtype), to=x.dtype)
}

# One number a channel (axis 1), shaped to meet x.
fn _per_channel(v, x) {
    shape = [v.shape[0]]
    for i in 2..<len(x.shape) { shape = shape + [1] }
    return cast(reshape(v, shape), to=wide(x.dtype))
}

# By the statistics of training, as in evaluation; channels are axis 1.
fn batch_norm(x, eps=1e-5) {
    assert eps < 1.0
    param weight: x.dtype[x.shape[1]]
    param bias: x.dtype[x.shape[1]]
    param running_mean: x.dtype[x.shape[1]]
    param running_var: x.dtype[x.shape[1]]
    h = cast(x, to=wide(x.dtype)) - _per_channel(running_mean, x)
    y = h * rsqrt(_per_channel(running_var, x) + eps)
    return cast(y * _per_channel(weight, x) + _per_channel(bias, x), to=x.dtype)
}

# Over groups of channels and all that follows them.
fn group_norm(x, groups, eps=1e-5) {
    assert eps < 1.0
    param weight: x.dtype[x.shape[1]]
    param bias: x.dtype[x.shape[1]]
    h = reshape(cast(x, to=wide(x.dtype)), [x.shape[0], groups, -1])
    d = h - mean(h, axis=-1, keep=true)
    y = reshape(d * rsqrt(mean(d * d, axis=-1, keep=true) + eps), x.shape)
    return cast(y * _per_channel(weight, x) + _per_channel(bias, x), to=x.dtype)
}
