# Activations, element by element.

# The greater of x and 0; NaN stays.
fn relu(x) {
    return maximum(x, 0)
}

# Between 0 and 6.
fn relu6(x) {
    return minimum(maximum(x, 0), 6)
}

# slope * x below 0.
fn leaky_relu(x, slope=0.01) {
    h = cast(x, to=wide(x.dtype))
    return cast(select(h > 0.0, h, h * slope), to=x.dtype)
}

# alpha * (exp(x) - 1) below 0.
fn elu(x, alpha=1.0) {
    h = cast(x, to=wide(x.dtype))
    return cast(select(h > 0.0, h, alpha * expm1(h)), to=x.dtype)
}

# elu with the constants that keep mean and variance.
fn selu(x) {
    h = cast(x, to=wide(x.dtype))
    y = 1.0507009873554805 * select(h > 0.0, h, 1.6732632423543772 * expm1(h))
    return cast(y, to=x.dtype)
}

# 1 / (1 + exp(-x)).
fn sigmoid(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(1.0 / (1.0 + exp(-h)), to=x.dtype)
}

# x * sigmoid(x), also called swish.
fn silu(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(h / (1.0 + exp(-h)), to=x.dtype)
}

# log(1 + exp(x)), without overflow.
fn softplus(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(maximum(h, 0.0) + log1p(exp(-abs(h))), to=x.dtype)
}

# log(sigmoid(x)), without overflow.
fn log_sigmoid(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(minimum(h, 0.0) - log1p(exp(-abs(h))), to=x.dtype)
}

# x * tanh(softplus(x)).
fn mish(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(h * tanh(softplus(h)), to=x.dtype)
}

# x times the normal distribution function; erfc keeps the tail accurate.
fn gelu(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(0.5 * h * erfc(h * -0.7071067811865476), to=x.dtype)
}

# gelu approximated by tanh, written as x * sigmoid(2 u), which has an accurate tail.
fn gelu_tanh(x) {
    h = cast(x, to=wide(x.dtype))
    u = 0.7978845608028654 * (h + 0.044715 * (h * h * h))
    return cast(h / (1.0 + exp(-2.0 * u)), to=x.dtype)
}

# relu6(x + 3) / 6.
fn hardsigmoid(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(relu6(h + 3.0) / 6.0, to=x.dtype)
}

# x * relu6(x + 3) / 6.
fn hardswish(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(h * relu6(h + 3.0) / 6.0, to=x.dtype)
}

# x / (1 + |x|).
fn softsign(x) {
    h = cast(x, to=wide(x.dtype))
    return cast(h / (1.0 + abs(h)), to=x.dtype)
}
