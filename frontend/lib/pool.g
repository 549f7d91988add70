# Pooling on x[N, C, spatial...]; kernel, stride (None: the kernel), pad and dilation are one number or one an axis.

# How much further an axis must be padded behind, so that its last window is not cut off; a window that
# would begin in that padding is left out.
fn _ceil_extra(size, k, s, p, d) {
    room = size + 2 * p - d * (k - 1) - 1
    extra = (s - room % s) % s
    last = (room + extra) // s * s
    return 0 if last >= size + p else extra
}

# The greatest in each window; padding never wins.
fn max_pool(x, kernel, stride=None, pad=0, dilation=1, ceil_mode=false) {
    n = len(x.shape) - 2
    k = list_of(kernel, n)
    s = k if stride == None else list_of(stride, n)
    p = list_of(pad, n)
    d = list_of(dilation, n)
    hi = p
    if ceil_mode {
        hi = []
        for i in 0..<n { hi = hi + [p[i] + _ceil_extra(x.shape[i + 2], k[i], s[i], p[i], d[i])] }
    }
    return window_max(x, [1, 1] + k, strides=[1, 1] + s, lo=[0, 0] + p, hi=[0, 0] + hi, dilations=[1, 1] + d)
}

# The mean of each window; padding counts as 0, or (count_include_pad=false) not at all.
fn avg_pool(x, kernel, stride=None, pad=0, count_include_pad=true) {
    n = len(x.shape) - 2
    k = list_of(kernel, n)
    s = k if stride == None else list_of(stride, n)
    p = list_of(pad, n)
    h = cast(x, to=wide(x.dtype))
    total = window_sum(h, [1, 1] + k, strides=[1, 1] + s, lo=[0, 0] + p, hi=[0, 0] + p)
    if count_include_pad {
        count = 1
        for i in 0..<n { count = count * k[i] }
        return cast(total / count, to=x.dtype)
    }
    one = ones([1, 1] + x.shape[2:], dtype=h.dtype)
    count = window_sum(one, [1, 1] + k, strides=[1, 1] + s, lo=[0, 0] + p, hi=[0, 0] + p)
    return cast(total / count, to=x.dtype)
}

fn max_pool1d(x, kernel, stride=None, pad=0, dilation=1, ceil_mode=false) {
    assert len(x.shape) == 3
    return max_pool(x, kernel, stride, pad, dilation, ceil_mode)
}

fn max_pool2d(x, kernel, stride=None, pad=0, dilation=1, ceil_mode=false) {
    assert len(x.shape) == 4
    return max_pool(x, kernel, stride, pad, dilation, ceil_mode)
}

fn max_pool3d(x, kernel, stride=None, pad=0, dilation=1, ceil_mode=false) {
    assert len(x.shape) == 5
    return max_pool(x, kernel, stride, pad, dilation, ceil_mode)
}

fn avg_pool1d(x, kernel, stride=None, pad=0, count_include_pad=true) {
    assert len(x.shape) == 3
    return avg_pool(x, kernel, stride, pad, count_include_pad)
}

fn avg_pool2d(x, kernel, stride=None, pad=0, count_include_pad=true) {
    assert len(x.shape) == 4
    return avg_pool(x, kernel, stride, pad, count_include_pad)
}

fn avg_pool3d(x, kernel, stride=None, pad=0, count_include_pad=true) {
    assert len(x.shape) == 5
    return avg_pool(x, kernel, stride, pad, count_include_pad)
}

# The axes behind batch and channels.
fn _spatial_axes(x) {
    axes = []
    for i in 2..<len(x.shape) { axes = axes + [i] }
    return axes
}

# The mean over all spatial axes, which go unless keep is set.
fn global_avg_pool(x, keep=false) {
    return mean(x, axis=_spatial_axes(x), keep=keep)
}

# The greatest over all spatial axes, which go unless keep is set.
fn global_max_pool(x, keep=false) {
    return max(x, axis=_spatial_axes(x), keep=keep)
}
