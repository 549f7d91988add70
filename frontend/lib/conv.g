# Convolutions on x[N, C, spatial...]; kernel, stride, pad and dilation are one number or one an axis.

# The sum, with bias where there is one (None: none), rounded once.
fn _conv_apply(x, weight, bias, stride, pad, dilation, groups) {
    y = conv(x, weight, strides=stride, lo=pad, hi=pad, dilations=dilation, groups=groups, dtype=wide(x.dtype))
    if bias != None { y = y + _per_channel(bias, x) }
    return cast(y, to=x.dtype)
}

# weight[out, C / groups, k], bias[out], as torch.nn.Conv1d.
fn conv1d(x, out, kernel, stride=1, pad=0, dilation=1, groups=1, bias=true) {
    assert len(x.shape) == 3
    k = list_of(kernel, 1)
    b = None
    param weight: x.dtype[out, x.shape[1] // groups, k[0]]
    if bias {
        param bias: x.dtype[out]
        b = bias
    }
    return _conv_apply(x, weight, b, stride, pad, dilation, groups)
}

# weight[out, C / groups, k, k], bias[out], as torch.nn.Conv2d.
fn conv2d(x, out, kernel, stride=1, pad=0, dilation=1, groups=1, bias=true) {
    assert len(x.shape) == 4
    k = list_of(kernel, 2)
    b = None
    param weight: x.dtype[out, x.shape[1] // groups, k[0], k[1]]
    if bias {
        param bias: x.dtype[out]
        b = bias
    }
    return _conv_apply(x, weight, b, stride, pad, dilation, groups)
}

# weight[out, C / groups, k, k, k], bias[out], as torch.nn.Conv3d.
fn conv3d(x, out, kernel, stride=1, pad=0, dilation=1, groups=1, bias=true) {
    assert len(x.shape) == 5
    k = list_of(kernel, 3)
    b = None
    param weight: x.dtype[out, x.shape[1] // groups, k[0], k[1], k[2]]
    if bias {
        param bias: x.dtype[out]
        b = bias
    }
    return _conv_apply(x, weight, b, stride, pad, dilation, groups)
}

# conv2d with one filter a channel: weight[C, 1, k, k].
fn depthwise_conv2d(x, kernel, stride=1, pad=0, dilation=1, bias=true) {
    c = x.shape[1]
    return conv2d(x, out=c, kernel=kernel, stride=stride, pad=pad, dilation=dilation, groups=c, bias=bias)
}
