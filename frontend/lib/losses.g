# Losses: the mean over all elements or rows, computed wide.

# -log(softmax(logits)[label]) of each row of logits[N, classes], labels i32 or i64.
fn cross_entropy_rows(logits, label) {
    p = log_softmax(cast(logits, to=wide(logits.dtype)), axis=-1)
    return -gather(p, label, axis=1, batch=1)
}

# The mean of cross_entropy_rows.
fn cross_entropy(logits, label) {
    return cast(mean(cross_entropy_rows(logits, label)), to=logits.dtype)
}

fn mse_loss(x, target) {
    d = cast(x, to=wide(x.dtype)) - cast(target, to=wide(x.dtype))
    return cast(mean(d * d), to=x.dtype)
}

fn l1_loss(x, target) {
    d = cast(x, to=wide(x.dtype)) - cast(target, to=wide(x.dtype))
    return cast(mean(abs(d)), to=x.dtype)
}

# Squared below beta, linear beyond it.
fn smooth_l1_loss(x, target, beta=1.0) {
    d = abs(cast(x, to=wide(x.dtype)) - cast(target, to=wide(x.dtype)))
    return cast(mean(select(d < beta, d * d / (2.0 * beta), d - 0.5 * beta)), to=x.dtype)
}

# Binary cross entropy of probabilities; logarithms are held above -100.
fn bce_loss(p, target) {
    h = cast(p, to=wide(p.dtype))
    t = cast(target, to=wide(p.dtype))
    y = t * maximum(log(h), -100.0) + (1.0 - t) * maximum(log1p(-h), -100.0)
    return cast(-mean(y), to=p.dtype)
}

# Binary cross entropy of sigmoid(x), without overflow.
fn bce_with_logits_loss(x, target) {
    h = cast(x, to=wide(x.dtype))
    t = cast(target, to=wide(x.dtype))
    return cast(mean(maximum(h, 0.0) - h * t + log1p(exp(-abs(h)))), to=x.dtype)
}
