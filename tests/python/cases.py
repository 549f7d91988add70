"""One case for each function of the language: its inputs, the call, and what numpy says (None where
it has no such function)."""
import math

import numpy as np

_random = np.random.default_rng(11)


def _normal(*shape):
    return _random.standard_normal(shape).astype("f4")


def _vectorized(function):
    return lambda x: np.vectorize(function, otypes=["f8"])(x.astype("f8"))


X, Y, P = _normal(3, 4), _normal(3, 4), _random.uniform(0.1, 2, (3, 4)).astype("f4")
I = _random.integers(-50, 50, (3, 4)).astype("i4")
J = _random.integers(1, 9, (3, 4)).astype("i4")
B = X > 0
PICK = np.array([2, 0, -1])
LABEL = np.array([1, 3, 0])
SEQUENCE, IMAGE, VOLUME = _normal(2, 4, 9), _normal(2, 4, 6, 6), _normal(1, 4, 5, 5, 5)
KEY = np.array(12345, "u8")


def _shifted(x):
    return x - x.max(axis=-1, keepdims=True)


def _softmax(x):
    e = np.exp(_shifted(x))
    return e / e.sum(axis=-1, keepdims=True)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _scattered(combine):
    def scatter(x, i, u):
        y = x.copy()
        combine(y, i, u)
        return y

    return scatter


def _windows(x, size):
    """Windows of `size` over all axes, moved to the end and flat."""
    view = np.lib.stride_tricks.sliding_window_view(x, size)
    return view.reshape(*view.shape[:x.ndim], -1)


def _pooled(function, axes):
    def pool(x):
        for axis in range(2, 2 + axes):
            n = x.shape[axis] // 2
            split = np.take(x, range(2 * n), axis=axis)
            split = split.reshape(*x.shape[:axis], n, 2, *x.shape[axis + 1:])
            x = function(split, axis=axis + 1)
        return x

    return pool


def _attention(q, k, v):
    return _softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])) @ v


def _method(name, *args, **named):
    return lambda g, *values: getattr(g, name)(*values, *args, **named)


def _same(names, *inputs):
    """Functions that numpy has by the same name."""
    return {name: (inputs, _method(name), getattr(np, name)) for name in names.split()}


def _no_numpy(names, *inputs):
    return {name: (inputs, _method(name), None) for name in names.split()}


CASES = {
    **_same("abs sign floor ceil trunc exp exp2 expm1 sin cos tan tanh", X),
    **_same("sqrt log log2 log1p", P),
    **_same("maximum minimum", X, Y),
    "neg": ((X,), _method("neg"), np.negative),
    "round": ((X,), _method("round"), np.round),
    "bit_not": ((I,), _method("bit_not"), np.invert),
    "rsqrt": ((P,), _method("rsqrt"), lambda x: 1 / np.sqrt(x)),
    "atan": ((X,), _method("atan"), np.arctan),
    "erf": ((X,), _method("erf"), _vectorized(math.erf)),
    "erfc": ((X,), _method("erfc"), _vectorized(math.erfc)),
    "add": ((X, Y), _method("add"), np.add),
    "sub": ((X, Y), _method("sub"), np.subtract),
    "mul": ((X, Y), _method("mul"), np.multiply),
    "div": ((X, P), _method("div"), np.divide),
    "floordiv": ((I, J), _method("floordiv"), np.floor_divide),
    "mod": ((I, J), _method("mod"), np.mod),
    "rem": ((I, J), _method("rem"), np.fmod),
    "pow": ((P, Y), _method("pow"), np.power),
    "bit_and": ((I, J), _method("bit_and"), np.bitwise_and),
    "bit_or": ((I, J), _method("bit_or"), np.bitwise_or),
    "bit_xor": ((I, J), _method("bit_xor"), np.bitwise_xor),
    "shift_left": ((I, J), _method("shift_left"), np.left_shift),
    "shift_right": ((I, J), _method("shift_right"), np.right_shift),
    "eq": ((J, J[::-1]), _method("eq"), np.equal),
    "ne": ((J, J[::-1]), _method("ne"), np.not_equal),
    "lt": ((X, Y), _method("lt"), np.less),
    "le": ((X, Y), _method("le"), np.less_equal),
    "gt": ((X, Y), _method("gt"), np.greater),
    "ge": ((X, Y), _method("ge"), np.greater_equal),
    "select": ((B, X, Y), _method("select"), np.where),
    "cast": ((I,), _method("cast", "f32"), lambda i: i.astype("f4")),
    "wide": ((X,), lambda g, x: x.cast("f16").cast(g.wide("f16")), lambda x: x.astype("f2").astype("f4")),

    **{name: ((X,), _method(name, axis=1), lambda x, f=getattr(np, name): f(x, axis=1))
       for name in "sum prod max min mean argmax argmin".split()},
    **{name: ((B,), _method(name, axis=[0], keep=True), lambda b, f=getattr(np, name): f(b, axis=0, keepdims=True))
       for name in ("any", "all")},
    "cum_sum": ((X,), _method("cum_sum", 1), lambda x: x.cumsum(axis=1)),
    "cum_prod": ((X,), _method("cum_prod", 0, reverse=True), lambda x: x[::-1].cumprod(axis=0)[::-1]),
    "cum_max": ((X,), _method("cum_max", 1), lambda x: np.maximum.accumulate(x, axis=1)),
    "cum_min": ((X,), _method("cum_min", 1), lambda x: np.minimum.accumulate(x, axis=1)),
    "sort": ((X,), _method("sort"), lambda x: (np.sort(x), np.argsort(x))),
    "topk": ((X,), _method("topk", 2), lambda x: (-np.sort(-x)[:, :2], np.argsort(-x)[:, :2])),

    "reshape": ((X,), _method("reshape", [2, -1]), lambda x: x.reshape(2, -1)),
    "permute": ((X,), _method("permute", [1, 0]), lambda x: x.T),
    "broadcast_to": ((X,), _method("broadcast_to", [2, 3, 4]), lambda x: np.broadcast_to(x, (2, 3, 4))),
    "concat": ((X, Y), lambda g, x, y: g.concat([x, y], axis=1), lambda x, y: np.concatenate([x, y], axis=1)),
    "pad": ((X,), _method("pad", [1, 0], [0, 2], value=7.0),
            lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=7)),
    "reverse": ((X,), _method("reverse", 1), lambda x: x[:, ::-1]),
    "list_of": ((X,), lambda g, x: x.pad(g.list_of(1, 2), [0, 0]), lambda x: np.pad(x, ((1, 0), (1, 0)))),
    "len": ((X,), lambda g, x: x * g.len(x.shape), lambda x: x * 2),
    "gather": ((X, PICK), _method("gather", axis=0), lambda x, i: x[i]),
    "scatter_set": ((X, PICK[:2], Y[:2]), _method("scatter_set"), _scattered(lambda y, i, u: y.__setitem__(i, u))),
    "scatter_add": ((X, PICK, Y), _method("scatter_add"), _scattered(np.add.at)),
    "scatter_mul": ((X, PICK, Y), _method("scatter_mul"), _scattered(np.multiply.at)),
    "scatter_max": ((X, PICK, Y), _method("scatter_max"), _scattered(np.maximum.at)),
    "scatter_min": ((X, PICK, Y), _method("scatter_min"), _scattered(np.minimum.at)),

    "matmul": ((X, Y.T), _method("matmul"), np.matmul),
    "einsum": ((X, Y), lambda g, x, y: g.einsum("ik,jk->ij", x, y), lambda x, y: np.einsum("ik,jk->ij", x, y)),
    "conv": ((IMAGE, _normal(3, 4, 2, 2)), _method("conv"),
             lambda x, w: np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3)), w)),
    "window_sum": ((X,), _method("window_sum", [2, 2]), lambda x: _windows(x, (2, 2)).sum(-1)),
    "window_max": ((X,), _method("window_max", [2, 2]), lambda x: _windows(x, (2, 2)).max(-1)),
    "window_min": ((X,), _method("window_min", [2, 2]), lambda x: _windows(x, (2, 2)).min(-1)),

    "tensor": ((), _method("tensor", [[1, -2], [3, 4]], dtype="i32"), lambda: np.array([[1, -2], [3, 4]], "i4")),
    "full": ((), _method("full", [2, 3], 1.5), lambda: np.full((2, 3), 1.5, "f4")),
    "zeros": ((), _method("zeros", [2, 3], "i16"), lambda: np.zeros((2, 3), "i2")),
    "ones": ((), _method("ones", [4]), lambda: np.ones(4, "f4")),
    "iota": ((), _method("iota", [2, 3], axis=1), lambda: np.broadcast_to(np.arange(3), (2, 3))),
    "arange": ((), _method("arange", 5), lambda: np.arange(5)),
    "random_bits": ((KEY,), _method("random_bits", [5]), None),

    "relu": ((X,), _method("relu"), lambda x: np.maximum(x, 0)),
    "relu6": ((X * 9,), _method("relu6"), lambda x: np.clip(x, 0, 6)),
    "leaky_relu": ((X,), _method("leaky_relu", slope=0.1), lambda x: np.where(x < 0, 0.1 * x, x)),
    "elu": ((X,), _method("elu"), lambda x: np.where(x < 0, np.expm1(x), x)),
    "sigmoid": ((X,), _method("sigmoid"), _sigmoid),
    "silu": ((X,), _method("silu"), lambda x: x * _sigmoid(x)),
    "softplus": ((X,), _method("softplus"), lambda x: np.log1p(np.exp(x))),
    "log_sigmoid": ((X,), _method("log_sigmoid"), lambda x: -np.log1p(np.exp(-x))),
    "mish": ((X,), _method("mish"), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "gelu": ((X,), _method("gelu"), lambda x: x * _vectorized(math.erfc)(-x / np.sqrt(2)) / 2),
    "softsign": ((X,), _method("softsign"), lambda x: x / (1 + np.abs(x))),
    **_no_numpy("selu gelu_tanh hardsigmoid hardswish", X),
    "attention": ((_normal(2, 3, 5, 4), _normal(2, 3, 6, 4), _normal(2, 3, 6, 4)), _method("attention"), _attention),
    "split_heads": ((_normal(2, 3, 8),), _method("split_heads", 2),
                    lambda x: x.reshape(2, 3, 2, 4).transpose(0, 2, 1, 3)),
    "join_heads": ((_normal(2, 2, 3, 4),), _method("join_heads"), lambda x: x.transpose(0, 2, 1, 3).reshape(2, 3, 8)),
    "multi_head_attention": ((_normal(2, 3, 8),), _method("multi_head_attention", 2, scope="mha"), None),
    "linear": ((X,), _method("linear", 5, scope="fc"), None),
    "embedding": ((LABEL,), _method("embedding", 6, 8, dtype="f32"), None),
    "one_hot": ((LABEL,), _method("one_hot", 5), lambda i: np.eye(5, dtype="f4")[i]),
    "flatten": ((SEQUENCE,), _method("flatten", 1), lambda x: x.reshape(2, -1)),
    "clip": ((X,), _method("clip", -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    "variance": ((X,), _method("variance", axis=1), lambda x: x.var(axis=1)),
    "logsumexp": ((X,), _method("logsumexp"), lambda x: np.log(np.exp(x).sum(-1))),
    **{name: ((KEY,), _method(name, [7]), None) for name in ("uniform", "normal")},
    **{f"conv{n}d": ((x,), _method(f"conv{n}d", 3, 3, pad=1, scope="c"), None)
       for n, x in ((1, SEQUENCE), (2, IMAGE), (3, VOLUME))},
    "depthwise_conv2d": ((IMAGE,), _method("depthwise_conv2d", 3), None),
    "cross_entropy_rows": ((X, LABEL), _method("cross_entropy_rows"), lambda x, i: -np.log(_softmax(x)[range(3), i])),
    "cross_entropy": ((X, LABEL), _method("cross_entropy"), lambda x, i: -np.log(_softmax(x)[range(3), i]).mean()),
    "mse_loss": ((X, Y), _method("mse_loss"), lambda x, y: ((x - y) ** 2).mean()),
    "l1_loss": ((X, Y), _method("l1_loss"), lambda x, y: np.abs(x - y).mean()),
    "smooth_l1_loss": ((X, Y), _method("smooth_l1_loss", beta=0.5), None),
    "bce_loss": ((P / 3, B.astype("f4")), _method("bce_loss"), None),
    "bce_with_logits_loss": ((X, B.astype("f4")), _method("bce_with_logits_loss"), None),
    **_no_numpy("layer_norm rms_norm", X),
    **_no_numpy("batch_norm", IMAGE),
    "group_norm": ((IMAGE,), _method("group_norm", 2), None),
    "max_pool": ((IMAGE,), _method("max_pool", [2, 2]), _pooled(np.max, 2)),
    "avg_pool": ((IMAGE,), _method("avg_pool", [2, 2]), _pooled(np.mean, 2)),
    **{f"{kind}_pool{n}d": ((x,), _method(f"{kind}_pool{n}d", 2), _pooled(function, n))
       for kind, function in (("max", np.max), ("avg", np.mean))
       for n, x in ((1, SEQUENCE), (2, IMAGE), (3, VOLUME))},
    "global_avg_pool": ((IMAGE,), _method("global_avg_pool"), lambda x: x.mean(axis=(2, 3))),
    "global_max_pool": ((IMAGE,), _method("global_max_pool", keep=True), lambda x: x.max(axis=(2, 3), keepdims=True)),
    "lstm_cell": ((X, _normal(3, 5), _normal(3, 5)), _method("lstm_cell"), None),
    "gru_cell": ((X, _normal(3, 5)), _method("gru_cell"), None),
    "softmax": ((X,), _method("softmax"), _softmax),
    "safe_softmax": ((X,), _method("safe_softmax"), _softmax),
    "log_softmax": ((X,), _method("log_softmax"), lambda x: np.log(_softmax(x))),
}
