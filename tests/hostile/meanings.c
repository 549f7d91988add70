// M25 to M31: files that can be read and mean nothing.
#include "tests/hostile/hostile.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void judge_expressions(Kit *kit, const char *const *rows, size_t count) {
    for (size_t i = 0; i < count; i++) judge(kit, FORMAT_g, REFUSED, model_of(kit, rows[i]));
}

static void judge_nodes(Kit *kit, const char *const *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        judge(kit, FORMAT_tir, REFUSED, graph_of(kit, rows[i], "%2"));
}

#define WRONG(name)                                                                                \
    judge_expressions(kit, name##_expressions, COUNT(name##_expressions)),                         \
        judge_nodes(kit, name##_nodes, COUNT(name##_nodes))

static void make_graphs(Kit *kit) { // cycles, uses before definitions, what is not there
    static const char *const order_expressions[] = {
        "y",     "z",       "m(x)",    "relu(y)",  "x + w",  "f",
        "x.foo", "softmax", "(z = x)", "return x", "[x][1]", "x if z else v"};
    static const char *const order_nodes[] = {
        "%2 = exp %2 : f32[2, 3]",
        "%2 = exp %3 : f32[2, 3]\n %3 = exp %2 : f32[2, 3]",
        "%2 = exp %9 : f32[2, 3]",
        "%3 = exp %0 : f32[2, 3]",
        "%2 = call %0 name=\"f\" scope=\"\" : f32[2, 3] { return %0 }",
        "%2 = call %0 name=\"f\" scope=\"\" : f32[2, 3] {\n %0 = input index=0 name=\"\" : f32[2, "
        "3]\n %1 = exp %2 : f32[2, 3]\n return %1\n }",
        "%2 = call name=\"f\" scope=\"\" : f32[2, 3] {\n return\n }",
        "%2 = exp %0 : f32[2, 3]\n return a = %2\n }\n graph @n {",
        "",
        "%2 = item %0 index=0 : f32[2, 3]",
        "%2 = neg %0 : f32[2, 3]\n %3 = neg %2 : f32[3, 2]",
        "%2 = neg %0 : f32[2, 3]\n %3 = iota axis=7 : i64[2]"};
    static const char *const models[] = {
        "model m(x: f32[2]) -> (y) { }",
        "model m(x: f32[2]) -> (y) { z = x }",
        "model m(x: f32[2]) -> () { y = x }",
        "model m() -> (y) { y = x }",
        "model m(x: f32[2]) -> (y: f32[3]) { y = x }",
        "fn f(x) { return g(x) }\nfn g(x) { return f(x) }\nmodel m(x: f32[2]) -> (y) { y = f(x) }",
        "fn f(x) { y = x }\nmodel m(x: f32[2]) -> (y) { y = f(x) }",
        "model m(x: f32[M]) -> (y) { y = x }",
        "dim N in 9..1\nmodel m(x: f32[N]) -> (y) { y = x }",
        "dim N in 1..9 tune 10\nmodel m(x: f32[N]) -> (y) { y = x }",
        "model m(x: f32[2]) -> (y) { y = x\n dead = sum(x, axis=4) }",
        "model m(x: f32[2]) -> (y) { y = x }\nmodel"};
    WRONG(order);
    for (size_t i = 0; i < COUNT(models); i++) judge(kit, FORMAT_g, REFUSED, str_from(models[i]));
}

static void make_steps(Kit *kit) { // strides, kernels and groups that divide by nothing
    static const char *const steps_expressions[] = {
        "conv2d(x, out=4, kernel=3, stride=0) as \"c\"",
        "conv2d(x, out=4, kernel=3, stride=-1) as \"c\"",
        "conv2d(x, out=4, kernel=0) as \"c\"",
        "conv2d(x, out=4, kernel=-3) as \"c\"",
        "conv2d(x, out=4, kernel=3, dilation=0) as \"c\"",
        "conv2d(x, out=4, kernel=3, dilation=-2) as \"c\"",
        "conv2d(x, out=4, kernel=3, pad=-1) as \"c\"",
        "conv2d(x, out=4, kernel=3, groups=0) as \"c\"",
        "conv2d(x, out=4, kernel=3, groups=-2) as \"c\"",
        "conv2d(x, out=4, kernel=3, groups=3) as \"c\"",
        "conv2d(x, out=3, kernel=3, groups=2) as \"c\"",
        "conv2d(x, out=-4, kernel=3) as \"c\"",
        "max_pool2d(x, 0)",
        "max_pool2d(x, 2, stride=0)",
        "max_pool2d(x, 2, stride=-2)",
        "avg_pool2d(x, 2, pad=-1)",
        "max_pool2d(x, 2, dilation=0)",
        "avg_pool2d(x, -2)",
        "window_sum(v, [0])",
        "window_max(v, [2], strides=[0])",
        "window_max(v, [2], dilations=[-1])",
        "window_max(v, [2], lo=[-1])",
        "window_max(v, [9223372036854775807], dilations=[9223372036854775807])",
        "v[::0]",
        "x[:, ::0]",
        "arange(-1)",
        "list_of(1, -1)",
        "topk(v, 0)",
        "topk(v, -1)",
        "topk(v, 6)",
        "group_norm(x, 0) as \"g\"",
        "group_norm(x, 3) as \"g\"",
        "split_heads(x[0], 0)",
        "pad(v, [-9], [0])",
        "iota([-1])",
        "attention(x, x, x, scale=\"a\")"};
    static const char *const steps_nodes[] = {
        "%2 = window_max %0 window=[0, 1] strides=[1, 1] dilations=[1, 1] lo=[0, 0] hi=[0, 0] : "
        "f32[2, 3]",
        "%2 = window_max %0 window=[1, 1] strides=[0, 1] dilations=[1, 1] lo=[0, 0] hi=[0, 0] : "
        "f32[2, 3]",
        "%2 = window_max %0 window=[1, 1] strides=[1, 1] dilations=[0, 1] lo=[0, 0] hi=[0, 0] : "
        "f32[2, 3]",
        "%2 = window_max %0 window=[1, 1] strides=[1, 1] dilations=[1, 1] lo=[-1, 0] hi=[0, 0] : "
        "f32[2, 3]",
        "%2 = window_max %0 window=[1] strides=[1, 1] dilations=[1, 1] lo=[0, 0] hi=[0, 0] : "
        "f32[2, 3]",
        "%2 = slice %0 start=[0, 0] limit=[2, 3] step=[0, 1] : f32[2, 3]",
        "%2 = slice %0 start=[0, 0] limit=[2, 3] step=[-1, 1] : f32[2, 3]",
        "%2 = slice %0 start=[-1, 0] limit=[2, 3] step=[1, 1] : f32[3, 3]",
        "%2 = slice %0 start=[0, 0] limit=[3, 3] step=[1, 1] : f32[3, 3]",
        "%2 = slice %0 start=[2, 0] limit=[1, 3] step=[1, 1] : f32[0, 3]",
        "%2 = topk %0 axis=1 k=4 largest=1 : (f32[2, 4], i64[2, 4])",
        "%2 = topk %0 axis=1 k=-1 largest=1 : (f32[2, 1], i64[2, 1])",
        "%2 = dim value=(N // 0) : i64[]",
        "%2 = dim value=(N % 0) : i64[]",
        "%2 = dim value=(1 // (N - N)) : i64[]"};
    WRONG(steps);
}

static void make_axes(Kit *kit) {
    static const char *const axes_expressions[] = {"sum(x, axis=4)",
                                                   "sum(x, axis=-5)",
                                                   "sum(x, axis=[0, -4])",
                                                   "sum(x, axis=[1, 1])",
                                                   "sum(x, axis=9223372036854775807)",
                                                   "sum(x, axis=-9223372036854775807)",
                                                   "max(v, axis=1)",
                                                   "argmax(x, axis=4)",
                                                   "softmax(x, axis=4)",
                                                   "softmax(s)",
                                                   "cum_sum(v, 1)",
                                                   "cum_sum(v, -2)",
                                                   "sort(v, axis=1)",
                                                   "topk(x, 1, axis=-5)",
                                                   "concat([x, x], axis=4)",
                                                   "concat([v, v], axis=-2)",
                                                   "permute(x, [0, 1, 2])",
                                                   "permute(x, [0, 1, 2, 2])",
                                                   "permute(x, [0, 1, 2, 4])",
                                                   "permute(x, [0, 1, 2, -5])",
                                                   "reshape(x, [-1, -1])",
                                                   "reshape(x, [5, -1])",
                                                   "reshape(x, [7])",
                                                   "reshape(zeros([3]), [0, -1])",
                                                   "reshape(x, [-2])",
                                                   "reverse(v, 1)",
                                                   "reverse(v, [0, 0])",
                                                   "gather(v, i, axis=1)",
                                                   "broadcast_to(v, [4])",
                                                   "broadcast_to(x, [6])",
                                                   "v.T",
                                                   "x.shape[4]",
                                                   "x.shape[-5]",
                                                   "v[:, 0]",
                                                   "x[None, None, None, None, None]",
                                                   "iota([3], axis=1)"};
    static const char *const axes_nodes[] = {
        "%2 = reduce_sum %0 axes=[2] dtype=f32 : f32[2, 3]",
        "%2 = reduce_sum %0 axes=[-1] dtype=f32 : f32[2]",
        "%2 = reduce_sum %0 axes=[0, 0] dtype=f32 : f32[3]",
        "%2 = reduce_sum %0 axes=[-9223372036854775808] dtype=f32 : f32[3]",
        "%2 = argmax %0 axis=2 : i64[2]",
        "%2 = argmax %0 axis=-1 : i64[2]",
        "%2 = cum_sum %0 axis=2 exclusive=0 reverse=0 : f32[2, 3]",
        "%2 = permute %0 perm=[1] : f32[3]",
        "%2 = permute %0 perm=[0, 0] : f32[2, 2]",
        "%2 = permute %0 perm=[0, 2] : f32[2, 3]",
        "%2 = reshape %0 dims=[7] : f32[7]",
        "%2 = reshape %0 dims=[-6] : f32[6]",
        "%2 = broadcast %0 dims=[2, 3] axes=[0] : f32[2, 3]",
        "%2 = broadcast %0 dims=[2, 3] axes=[0, 0] : f32[2, 3]",
        "%2 = broadcast %0 dims=[2, 3] axes=[1, 0] : f32[2, 3]",
        "%2 = broadcast %0 dims=[4, 3] axes=[0, 1] : f32[4, 3]",
        "%2 = concat %0, %0 axis=2 : f32[2, 3]",
        "%2 = concat axis=0 : f32[2, 3]",
        "%2 = reverse %0 axes=[2] : f32[2, 3]",
        "%2 = gather %0, %1 axis=2 batch=0 : f32[2, 3]",
        "%2 = gather %0, %1 axis=0 batch=1 : f32[3]",
        "%2 = iota axis=1 : i32[3]",
        "%2 = iota axis=-1 : i32[3]"};
    WRONG(axes);
}

static void make_arguments(Kit *kit) { // the wrong kind, too few, too many
    static const char *const arguments_expressions[] = {"sum()",
                                                        "sum(x, x)",
                                                        "sum(x, axis=x)",
                                                        "sum(x, axis=\"0\")",
                                                        "sum(x, axis=1.0)",
                                                        "sum(x, keep=1)",
                                                        "sum(x, axes=0)",
                                                        "sum(\"a\")",
                                                        "exp()",
                                                        "exp(x, x)",
                                                        "x + \"a\"",
                                                        "x + i",
                                                        "x @ s",
                                                        "x and x",
                                                        "not x",
                                                        "cast(x, 3)",
                                                        "f32()",
                                                        "f32(x, x)",
                                                        "reshape(x)",
                                                        "reshape(x, 7.5)",
                                                        "concat(x)",
                                                        "concat([])",
                                                        "select(x, x, x)",
                                                        "gather(v, v)",
                                                        "gather(v, i, i, i, i)",
                                                        "scatter_add(v, i, i)",
                                                        "tensor([[1], [1, 2]])",
                                                        "tensor([\"a\"])",
                                                        "tensor([x])",
                                                        "einsum(\"ij\", x, x)",
                                                        "einsum(\"abcd,q->abcdqz\", x, v)",
                                                        "einsum(3, x, v)",
                                                        "linear(x)",
                                                        "linear(x, 2, 3, 4)",
                                                        "len(x)",
                                                        "x(1)",
                                                        "3(x)",
                                                        "f32 + x",
                                                        "x.shape + 1",
                                                        "relu(\"x\")"};
    static const char *const arguments_nodes[] = {
        "%2 = exp : f32[2, 3]",
        "%2 = exp %0, %0 : f32[2, 3]",
        "%2 = add %0 : f32[2, 3]",
        "%2 = add %0, %1 : f32[2, 3]",
        "%2 = exp %1 : i64[3]",
        "%2 = exp %0 axis=0 : f32[2, 3]",
        "%2 = reduce_sum %0 axes=0 dtype=f32 : f32[3]",
        "%2 = reduce_sum %0 axes=[0] dtype=[f32] : f32[3]",
        "%2 = reduce_sum %0 axes=[0] dtype=\"f32\" : f32[3]",
        "%2 = reduce_sum %0 dtype=f32 axes=[0] : f32[3]",
        "%2 = argmax %0 axis=[0] : i64[3]",
        "%2 = argmax %0 axis=\"0\" : i64[3]",
        "%2 = argmax %0 axis=0 : f32[3]",
        "%2 = gather %0, %0 axis=0 batch=0 : f32[2, 3]",
        "%2 = select %0, %0, %0 : f32[2, 3]",
        "%2 = cast %0 to=9 user=0 : f32[2, 3]",
        "%2 = cast %0 to=f16 : f16[2, 3]",
        "%2 = const value=3 : f32[1]",
        "%2 = param name=p value=none : f32[1]",
        "%2 = frobnicate %0 : f32[2, 3]",
        "%2 = call %0 name=\"f\" scope=\"\" : f32[2, 3]",
        "%2 = exp %0 : f32[2, 3] {\n return\n }"};
    WRONG(arguments);
}

static void make_indices(Kit *kit) { // constant ones out of range
    static const char *const indices_expressions[] = {
        "v[5]",
        "v[-6]",
        "v[9223372036854775807]",
        "v[-9223372036854775807]",
        "v[0:6]",
        "v[-7:]",
        "v[6:]",
        "v[3:2]",
        "x[2]",
        "x[:, 4]",
        "x[0, 0, 0, 6]",
        "x[0, 0, 0, 0, 0]",
        "gather(v, tensor([5]))",
        "gather(v, tensor([-6]))",
        "gather(v, tensor([0, 1, 9223372036854775807]))",
        "gather(v, tensor(-9223372036854775807))",
        "gather(x, tensor([4]), axis=1)",
        "gather(x, tensor([-7]), axis=-1)",
        "scatter_set(v, tensor([5]), tensor([1.0]))",
        "scatter_add(v, tensor([-6]), tensor([1.0]))",
        "scatter_max(v, tensor([[0], [9]]), tensor([[1.0], [2.0]]))",
        "[1, 2][2]",
        "[1, 2][-3]",
        "x.shape[4]",
        "n[9]",
        "n[-1:-3]"};
    static const char *const graphs[] = {"[2] : i64[1]",
                                         "[-3] : i64[1]",
                                         "[9223372036854775807] : i64[1]",
                                         "[-9223372036854775808] : i64[1]",
                                         "[2] : i32[1]",
                                         "[-3] : i8[1]",
                                         "[255] : u8[1]",
                                         "[18446744073709551615] : u64[1]"};
    // Those that reach ops are found by the first pass that looks at constants.
    tcc_set_option(kit->compiler, "passes", "inline,decompose");
    judge_expressions(kit, indices_expressions, COUNT(indices_expressions));
    for (size_t i = 0; i < COUNT(graphs); i++)
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(
                  kit,
                  text_of(kit,
                          "%%2 = const value=%s\n %%3 = gather %%0, %%2 axis=0 batch=0 : f32[1, 3]",
                          graphs[i])
                      .data,
                  "%3"));
    tcc_set_option(kit->compiler, "passes", "inline");
}

// There is no op that quantises. Scales are numbers like others: those that no dtype has are
// refused, the rest is arithmetic.
static void make_scales(Kit *kit) {
    static const char *const legal[] = {"i8(round(x / 0.0))",
                                        "i8(round(x / -1.5))",
                                        "i8(round(x / inf))",
                                        "i8(round(x / nan))",
                                        "u8(round(x / 1e-45) + 128.0)",
                                        "i8(x * 1e-38)",
                                        "u8(x) / 0",
                                        "i32(x) % 0",
                                        "f8e4m3(x * 1e30)",
                                        "f16(x / 1e-38)"};
    static const char *const scales_expressions[] = {
        "i8(x) * 300", "i8(x) + 128",      "u8(x) - 256",  "i8(x) * 0.5",
        "u8(x) * -1",  "i4(x) + i4(x)",    "f16(x) * 1e6", "f8e4m3(x) * 1e30",
        "i8(x, 2)",    "cast(x, to=int8)", "round(i)",     "i8(x) * u8(x)"};
    for (size_t i = 0; i < COUNT(legal); i++)
        judge(kit, FORMAT_g, ACCEPTED, model_of(kit, legal[i]));
    judge_expressions(kit, scales_expressions, COUNT(scales_expressions));
}

const Kind meaning_kinds[] = {
    {"M25", "cycles, uses before definitions, outputs of nothing", make_graphs},
    {"M26", "strides, kernels, groups and counts of 0 or less", make_steps},
    {"M27", "axes, permutations and shapes that are none", make_axes},
    {"M29", "arguments of the wrong kind, missing, too many", make_arguments},
    {"M30", "constant indices out of range", make_indices},
    {"M31", "scales that are 0, NaN, infinite or negative", make_scales},
    {NULL, NULL, NULL}};
