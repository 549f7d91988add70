// The error bounds: what a correct implementation in f32 computes lies within them, for random
// graphs of operands with bounds, other orders of summation, operands moved within their bounds,
// values of 16 bits rounded or not; and they are not so wide that they would hide a fault.
#include "ir/eval.h"
#include "ir/infer.h"
#include "tests/unit/test.h"

enum { COUNT = 400 };

typedef struct World {
    Arena *arena;
    IrContext *ctx;
    Graph *g;
    uint64_t random;
} World;

static World world_new(uint64_t seed) {
    World w = {.arena = arena_new(NULL), .random = seed};
    w.ctx = ir_context_new(w.arena);
    w.g = graph_new(w.ctx, w.arena, STR("g"));
    return w;
}

static void world_free(World *w) {
    ir_context_free(w->ctx);
    arena_free(w->arena);
}

// xorshift64*
static uint32_t draw(World *w) {
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (uint32_t)(w->random * UINT64_C(2685821657736338717) >> 32);
}

static double uniform(World *w, double lo, double hi) {
    return lo + (hi - lo) * draw(w) / 4294967296.0;
}

static const Type *type(const World *w, DType dtype, uint32_t rank, int64_t n, int64_t m) {
    const Dim *dims[2] = {dim_const(w->ctx, n), dim_const(w->ctx, m)};
    return type_tensor(w->ctx, dtype, rank, dims);
}

static EvalValue value(const World *w, DType dtype, uint32_t rank, int64_t n, int64_t m) {
    EvalValue v = {.tensor = {dtype, rank, {n, m}, NULL}};
    v.tensor.data = arena_alloc(w->arena, tensor_bytes(&v.tensor));
    return v;
}

static NodeId input(const World *w, const EvalValue *v) {
    const Tensor *t = &v->tensor;
    return graph_add_input(w->g, STR("x"), type(w, t->dtype, t->rank, t->dims[0], t->dims[1]),
                           NULL);
}

static NodeId apply(World *w, Op op, const NodeId *args, uint32_t count, const Attr *attrs) {
    NodeId node = graph_build(w->g, NULL, NULL, op, args, count, attrs, NULL, 0);
    CHECK(node != NODE_none);
    return node;
}

static EvalValue run(World *w, NodeId node, const EvalValue *inputs) {
    EvalOptions options = {.bounds = true};
    EvalValue out = {0};
    EvalError error;
    const char *message = NULL;
    graph_add_output(w->g, STR(""), node);
    if (!CHECK(eval_graph(w->g, inputs, &options, w->arena, &out, &error, &message)))
        printf("    %s\n", message ? message : "(no message)");
    return out;
}

// Whether `got` is a right value of element i.
static bool within(const EvalValue *want, int64_t i, double got) {
    double v = tensor_get(&want->tensor, i), b = want->bound[i];
    if (isinf(b)) return true;
    if (isnan(v) || isnan(got)) return isnan(v) && isnan(got);
    return v == got || fabs(got - v) <= b;
}

static double f32(double v) { return (double)(float)v; }

// ---- sums -----------------------------------------------------------------------------------

static float forward(const float *x, int64_t n) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

static float backward(const float *x, int64_t n) {
    float sum = 0;
    while (n > 0) sum += x[--n];
    return sum;
}

static float pairwise(const float *x, int64_t n) {
    if (n <= 2) return forward(x, n);
    return pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}

static float lanes(const float *x, int64_t n) {
    float sums[16] = {0};
    for (int64_t i = 0; i < n; i++) sums[i % 16] += x[i];
    return pairwise(sums, 16);
}

// The contract's: blocks of 64, and blocks of these.
static float blocks(const float *x, int64_t n, int64_t size) {
    if (size < 64) return forward(x, n);
    float sum = 0;
    for (int64_t i = 0; i < n; i += size)
        sum += blocks(x + i, n - i < size ? n - i : size, size / 64);
    return sum;
}

// How many additions a term goes through in blocks.
static double longest_chain(int64_t n) {
    double chain = 0;
    for (; n > 1; n = (n + 63) / 64) chain += n < 64 ? (double)n : 64;
    return chain;
}

static NodeId reduce(World *w, Op op, NodeId x, DType dtype) {
    int64_t axis = 0;
    Attr attrs[2] = {{.ints = ir_ints(w->ctx, &axis, 1)}, {.dtype = dtype}};
    return apply(w, op, &x, 1, attrs);
}

static void sum_case(uint64_t seed, int64_t n, double center, double spread) {
    World w = world_new(seed);
    EvalValue x = value(&w, DT_f32, 1, n, 0);
    float *data = x.tensor.data;
    for (int64_t i = 0; i < n; i++) data[i] = (float)uniform(&w, center - spread, center + spread);
    EvalValue out = run(&w, reduce(&w, OP_reduce_sum, input(&w, &x), DT_f32), &x);
    float (*const orders[])(const float *, int64_t) = {forward, backward, pairwise, lanes};
    double terms = 0;
    for (int64_t i = 0; i < n; i++) terms += fabs((double)data[i]);
    for (int k = 0; k < 4; k++) CHECK(within(&out, 0, (double)orders[k](data, n)));
    double v = tensor_get(&out.tensor, 0);
    CHECK(!within(&out, 0, v + terms * 1e-3 + 1)); // a lost term of ordinary size is seen
    double roundings = fmax(2 * sqrt((double)n), longest_chain(n));
    CHECK(out.bound[0] <= (5 + roundings) * 0x1p-24 * terms + 0x1p-24 * fabs(v));
    world_free(&w);
}

static void test_sums(void) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        sum_case(seed, (int64_t)(seed * seed % 900 + 2), 0, 1);
        sum_case(seed, 1000, 1, 1);
        sum_case(seed, 300, 1e6, 1e6);
        sum_case(seed, 300, 1e-20, 1e-20);
    }
}

// Terms that are rounded the same way one after the other: small ones that the first, large one
// swallows, or equal ones.
static void chain_case(int64_t n, float first, float rest) {
    World w = world_new(1);
    EvalValue x = value(&w, DT_f32, 1, n, 0);
    float *data = x.tensor.data;
    for (int64_t i = 0; i < n; i++) data[i] = i ? rest : first;
    EvalValue out = run(&w, reduce(&w, OP_reduce_sum, input(&w, &x), DT_f32), &x);
    CHECK(within(&out, 0, (double)blocks(data, n, 64 * 64)));
    CHECK(within(&out, 0, (double)pairwise(data, n)));
    world_free(&w);
}

static void test_chains(void) {
    static const int64_t counts[] = {1, 2, 16, 63, 64, 65, 700, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        chain_case(counts[i], 0.1F, 0.1F);
        chain_case(counts[i], 1, 0x1.fffp-25F); // each is nearly half a unit of the first
        chain_case(counts[i], 1, -0x1.fffp-26F);
        chain_case(counts[i], 0x1.555556p0F, 0x1.555556p0F);
    }
}

// scatter_add takes its updates in order, so its bound grows with their number.
static void test_scatter_in_order(void) {
    enum { UPDATES = 5000 };
    World w = world_new(1);
    EvalValue in[3] = {value(&w, DT_f32, 1, 2, 0), value(&w, DT_i64, 1, UPDATES, 0),
                       value(&w, DT_f32, 1, UPDATES, 0)};
    NodeId args[3];
    float *data = in[2].tensor.data, sum = 1;
    memcpy(in[0].tensor.data, (float[]){1, 3}, 8);
    memset(in[1].tensor.data, 0, UPDATES * sizeof(int64_t));
    for (int i = 0; i < UPDATES; i++) data[i] = 0x1.fffp-25F;
    for (int i = 0; i < UPDATES; i++) sum += data[i];
    for (int s = 0; s < 3; s++) args[s] = input(&w, &in[s]);
    Attr attrs[2] = {{.i = 0}, {.i = 0}};
    EvalValue out = run(&w, apply(&w, OP_scatter_add, args, 3, attrs), in);
    CHECK(within(&out, 0, (double)sum));
    CHECK(out.bound[0] < 1.01 * UPDATES * 0x1p-24 && out.bound[1] == 0);
    world_free(&w);
}

// ---- products -----------------------------------------------------------------------------------

// The product of n factors in the order of `step`, which has no divisor in common with n.
static float multiply(const float *x, int64_t n, int64_t step) {
    float product = 1;
    for (int64_t i = 0; i < n; i++) product *= x[i * step % n];
    return product;
}

// Factors `a` and `b` in turn, the last one `last`: orders that differ much lie within the bound,
// which is finite exactly when all orders must agree.
static void product_case(double a, double b, double last, bool certain) {
    enum { N = 401 };
    World w = world_new(1);
    EvalValue x = value(&w, DT_f32, 1, N, 0);
    float *data = x.tensor.data, sorted[N];
    for (int i = 0; i < N; i++) data[i] = (float)(i % 2 ? b : a);
    data[N - 1] = (float)last;
    for (int i = 0; i < N; i++) sorted[i] = data[2 * i % N];
    EvalValue out = run(&w, reduce(&w, OP_reduce_prod, input(&w, &x), DT_f32), &x);
    CHECK(within(&out, 0, (double)multiply(data, N, 1)));
    CHECK(within(&out, 0, (double)multiply(data, N, N - 1)));
    CHECK(within(&out, 0, (double)multiply(sorted, N, 1)));
    if (!CHECK(certain == (out.bound[0] < (double)INFINITY))) printf("    %g %g %g\n", a, b, last);
    world_free(&w);
}

static void test_products(void) {
    product_case(1e30, 1e-30, 1, false);
    product_case(1e30, 1e-30, 0, false); // 0 times an overflow is NaN
    product_case(1e30, 1e30, 1, true);   // infinite in every order
    product_case(1e30, -1e30, 0.5, false);
    product_case(1e-30, 1e-30, 1, true);
    product_case(1e-30, 1e-30, (double)INFINITY, false);
    product_case(1.5, 2, (double)INFINITY, true);
    product_case(1.1, 0.9, 3, true);
    product_case(1.1, 0.9, 0, true);
    product_case(1e30, 1e-30, (double)NAN, true);
    product_case(0, (double)INFINITY, 1, true);
}

// ---- sums that overflow -------------------------------------------------------------------------

// What may overflow on the way cannot be compared.
static void test_overflowing_sums(void) {
    World w = world_new(1);
    EvalValue x = value(&w, DT_f32, 1, 3, 0);
    memcpy(x.tensor.data, (float[]){3e38f, 3e38f, -3e38f}, 12);
    EvalValue out = run(&w, reduce(&w, OP_reduce_sum, input(&w, &x), DT_f32), &x);
    CHECK(isinf(out.bound[0]));
    world_free(&w);
    w = world_new(1);
    x = value(&w, DT_f32, 1, 3, 0);
    memcpy(x.tensor.data, (float[]){INFINITY, 3, -3e38f}, 12);
    out = run(&w, reduce(&w, OP_reduce_sum, input(&w, &x), DT_f32), &x);
    CHECK(isinf(tensor_get(&out.tensor, 0)) && isinf(out.bound[0])); // a finite term may overflow
    world_free(&w);
}

// Products of matrices with operands moved within their bounds, summed in f32 with and without fma.
static void contract_case(uint64_t seed, int64_t n, int64_t k, double bound) {
    World w = world_new(seed);
    EvalValue in[2] = {value(&w, DT_f32, 2, n, k), value(&w, DT_f32, 2, k, n)};
    NodeId args[2];
    for (int s = 0; s < 2; s++) {
        float *data = in[s].tensor.data;
        if (bound > 0) in[s].bound = NEW_ARRAY(w.arena, double, (size_t)(n * k));
        for (int64_t i = 0; i < n * k; i++) data[i] = (float)uniform(&w, -1, 1);
        for (int64_t i = 0; bound > 0 && i < n * k; i++) in[s].bound[i] = bound;
        args[s] = input(&w, &in[s]);
    }
    Attr attrs[4] = {{.ints = ir_ints(w.ctx, (int64_t[]){0, 1}, 2)},
                     {.ints = ir_ints(w.ctx, (int64_t[]){1, 2}, 2)},
                     {.ints = ir_ints(w.ctx, (int64_t[]){0, 2}, 2)},
                     {.dtype = DT_f32}};
    EvalValue out = run(&w, apply(&w, OP_contract, args, 2, attrs), in);
    const float *a = in[0].tensor.data, *b = in[1].tensor.data;
    for (int64_t at = 0; at < n * n; at++) {
        float plain = 0, fused = 0;
        for (int64_t p = 0; p < k; p++) {
            float x = a[at / n * k + p] + (float)uniform(&w, -bound, bound) * 0.999f;
            float y = b[p * n + at % n] + (float)uniform(&w, -bound, bound) * 0.999f;
            plain += x * y;
            fused = fmaf(x, y, fused);
        }
        CHECK(within(&out, at, (double)plain));
        CHECK(within(&out, at, (double)fused));
        CHECK(!within(&out, at, tensor_get(&out.tensor, at) + 0.01 + 3 * bound * (double)k));
    }
    world_free(&w);
}

static void test_contractions(void) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        contract_case(seed, 5, 64, 0);
        contract_case(seed, 3, 301, 0);
        contract_case(seed, 5, 40, 1e-5);
        contract_case(seed, 2, 1, 1e-3);
    }
}

// ---- element by element ---------------------------------------------------------------------

static double scalar_unary(Op op, double x) {
    switch (op) {
    case OP_neg: return -x;
    case OP_abs: return fabs(x);
    case OP_floor: return floor(x);
    case OP_sqrt: return sqrt(x);
    case OP_rsqrt: return 1 / sqrt(x);
    case OP_exp: return exp(x);
    case OP_expm1: return expm1(x);
    case OP_log: return log(x);
    case OP_log1p: return log1p(x);
    case OP_sin: return sin(x);
    case OP_cos: return cos(x);
    case OP_tan: return tan(x);
    case OP_tanh: return tanh(x);
    case OP_erf: return erf(x);
    default: return erfc(x);
    }
}

static double scalar_binary(Op op, double x, double y) {
    switch (op) {
    case OP_add: return x + y;
    case OP_sub: return x - y;
    case OP_mul: return x * y;
    case OP_div: return x / y;
    case OP_rem: return fmod(x, y);
    case OP_pow: return pow(x, y);
    case OP_min: return fmin(x, y);
    default: return fmax(x, y);
    }
}

// An operand of COUNT elements with bounds from nothing to large.
static EvalValue operand(World *w, DType dtype, double lo, double hi) {
    EvalValue x = value(w, dtype, 1, COUNT, 0);
    x.bound = NEW_ARRAY(w->arena, double, COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        tensor_set(&x.tensor, i, uniform(w, lo, hi));
        x.bound[i] = i % 4 ? uniform(w, 0, 1) * exp(uniform(w, -18, -1)) : 0;
    }
    return x;
}

static double moved(World *w, const EvalValue *x, int64_t i) {
    double b = x->bound[i], choices[4] = {-b, b, 0, uniform(w, -b, b)};
    return tensor_get(&x->tensor, i) + choices[draw(w) % 4];
}

// An implementation in f32 of `dtype`, with an error of up to the op's ulps (half of one is the
// last rounding's), that may leave the value in f32 or round it.
static double implemented(World *w, DType dtype, double exact, double ulps) {
    double error = ulps > 0 ? uniform(w, 0.5 - ulps, ulps - 0.5) : 0;
    double v = f32(exact + error * number_ulp(DT_f32, exact));
    return draw(w) % 2 ? number_round(dtype, v) : v;
}

static void unary_case(Op op, DType dtype, double lo, double hi) {
    World w = world_new((uint64_t)op * 8 + (uint64_t)dtype + 1);
    EvalValue x = operand(&w, dtype, lo, hi);
    NodeId arg = input(&w, &x);
    EvalValue out = run(&w, apply(&w, op, &arg, 1, NULL), &x);
    int compared = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        compared += isfinite(out.bound[i]);
        for (int k = 0; k < 8; k++) {
            double exact = scalar_unary(op, moved(&w, &x, i));
            double got = implemented(&w, dtype, exact, op_info(op)->ulp);
            if (!CHECK(within(&out, i, got)))
                printf("    %s %s of %a within %g: got %a, not within %g of %a\n",
                       op_info(op)->name, dtype_name(dtype), tensor_get(&x.tensor, i), x.bound[i],
                       got, out.bound[i], tensor_get(&out.tensor, i));
        }
    }
    CHECK(compared > COUNT / 2);
    world_free(&w);
}

static void test_unary(void) {
    static const struct {
        Op op;
        double lo, hi;
    } cases[] = {{OP_neg, -9, 9},     {OP_abs, -2, 2}, {OP_floor, -9, 9}, {OP_sqrt, 0, 4},
                 {OP_rsqrt, 0.01, 4}, {OP_exp, -9, 9}, {OP_expm1, -2, 2}, {OP_log, 0.01, 9},
                 {OP_log1p, -0.9, 3}, {OP_sin, -9, 9}, {OP_cos, -9, 9},   {OP_tan, -3, 3},
                 {OP_tanh, -5, 5},    {OP_erf, -4, 4}, {OP_erfc, -4, 8},  {OP_exp, -110, -80},
                 {OP_exp, 80, 95}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unary_case(cases[i].op, DT_f32, cases[i].lo, cases[i].hi);
        unary_case(cases[i].op, DT_bf16, cases[i].lo, cases[i].hi);
        bool overflows = cases[i].lo == 80;
        if (!overflows) unary_case(cases[i].op, DT_f16, cases[i].lo, cases[i].hi);
    }
}

static void binary_case(Op op, DType dtype, double lo, double hi) {
    World w = world_new((uint64_t)op * 8 + (uint64_t)dtype + 1);
    EvalValue in[2] = {operand(&w, dtype, lo, hi), operand(&w, dtype, lo, hi)};
    NodeId args[2] = {input(&w, &in[0]), 0};
    args[1] = input(&w, &in[1]);
    EvalValue out = run(&w, apply(&w, op, args, 2, NULL), in);
    int compared = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        compared += isfinite(out.bound[i]);
        for (int k = 0; k < 8; k++) {
            double exact = scalar_binary(op, moved(&w, &in[0], i), moved(&w, &in[1], i));
            double got = implemented(&w, dtype, exact, op_info(op)->ulp);
            if (!CHECK(within(&out, i, got)))
                printf("    %s %s: got %a, not within %g of %a\n", op_info(op)->name,
                       dtype_name(dtype), got, out.bound[i], tensor_get(&out.tensor, i));
        }
    }
    CHECK(compared > COUNT / 2);
    world_free(&w);
}

static void test_binary(void) {
    static const Op ops[] = {OP_add, OP_sub, OP_mul, OP_div, OP_rem, OP_min, OP_max};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        binary_case(ops[i], DT_f32, -3, 3);
        binary_case(ops[i], DT_f16, -3, 3);
        binary_case(ops[i], DT_bf16, -3, 3);
        binary_case(ops[i], DT_f32, -1e30, 1e30);
    }
    binary_case(OP_pow, DT_f32, 0.1, 4);
    binary_case(OP_pow, DT_bf16, 0.1, 4);
}

// ---- exactness ------------------------------------------------------------------------------

// Exact operands leave correctly rounded f32 ops no freedom; a user's cast none either.
static void test_no_slack(void) {
    World w = world_new(3);
    EvalValue in[2] = {operand(&w, DT_f32, -3, 3), operand(&w, DT_f32, -3, 3)};
    in[0].bound = in[1].bound = NULL;
    NodeId x = input(&w, &in[0]), y = input(&w, &in[1]);
    NodeId quotient = apply(&w, OP_div, (NodeId[]){x, y}, 2, NULL);
    NodeId product = apply(&w, OP_mul, (NodeId[]){quotient, x}, 2, NULL);
    Attr attrs[2] = {{.dtype = DT_f16}, {.i = 1}};
    EvalValue out = run(&w, apply(&w, OP_cast, &product, 1, attrs), in);
    for (int64_t i = 0; i < COUNT; i++) CHECK(out.bound[i] == 0);
    world_free(&w);
}

// A cast of the compiler's own may be left out: half a unit of f16, and nothing where it is exact.
static void test_dropped_cast(void) {
    World w = world_new(3);
    EvalValue x = operand(&w, DT_f32, 1, 2);
    x.bound = NULL;
    tensor_set(&x.tensor, 0, 1.5);
    NodeId arg = input(&w, &x);
    Attr attrs[2] = {{.dtype = DT_f16}, {.i = 0}};
    EvalValue out = run(&w, apply(&w, OP_cast, &arg, 1, attrs), &x);
    CHECK(out.bound[0] == 0);
    for (int64_t i = 0; i < COUNT; i++) {
        CHECK(out.bound[i] <= 0x1p-11);
        CHECK(within(&out, i, tensor_get(&x.tensor, i)));
    }
    world_free(&w);
}

// ---- discontinuities ------------------------------------------------------------------------

static EvalValue three(const World *w, double a, double b, double c, double bound) {
    EvalValue x = value(w, DT_f32, 1, 3, 0);
    memcpy(x.tensor.data, (float[]){(float)a, (float)b, (float)c}, 12);
    x.bound = arena_copy(w->arena, (double[]){bound, bound, bound}, 3 * sizeof(double));
    return x;
}

static double bound_of(Op op, double a, double b, double c, double bound, const Attr *attrs) {
    World w = world_new(1);
    EvalValue x = three(&w, a, b, c, bound);
    NodeId arg = input(&w, &x), node = apply(&w, op, &arg, 1, attrs);
    Attr second = {.i = 1};
    if (op == OP_sort) node = apply(&w, OP_item, &node, 1, &second);
    double most = 0;
    EvalValue out = run(&w, node, &x);
    for (int64_t i = 0; i < tensor_elements(&out.tensor); i++) {
        if (out.bound[i] > most) most = out.bound[i];
    }
    world_free(&w);
    return most;
}

static void test_straddling(void) {
    Attr to_int[2] = {{.dtype = DT_i32}, {.i = 1}}, to_bool[2] = {{.dtype = DT_bool}, {.i = 1}};
    Attr axis[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
    CHECK(bound_of(OP_floor, 0.5, 1.5, 2.5, 0.4, NULL) < 1);
    CHECK(isinf(bound_of(OP_floor, 0.5, 1.1, 2.5, 0.4, NULL)));
    CHECK(isinf(bound_of(OP_sign, 0.1, 1, 2, 0.2, NULL)));
    CHECK(bound_of(OP_sign, 0.1, 1, 2, 0.05, NULL) < 1);
    CHECK(bound_of(OP_cast, 0.5, 1.5, 2.5, 0.4, to_int) == 0);
    CHECK(isinf(bound_of(OP_cast, 0.5, 0.9, 2.5, 0.4, to_int)));
    CHECK(isinf(bound_of(OP_cast, 0.1, 1, 1, 0.2, to_bool)));
    CHECK(bound_of(OP_cast, 0.1, 1, 1, 0.05, to_bool) == 0);
    CHECK(bound_of(OP_argmax, 1, 2, 3, 0.4, axis) == 0);
    CHECK(isinf(bound_of(OP_argmax, 1, 2, 3, 0.6, axis)));
    CHECK(bound_of(OP_argmax, 3, 3, 3, 0, axis) == 0);
    CHECK(bound_of(OP_sort, 3, 1, 2, 0.4, axis) == 0);
    CHECK(isinf(bound_of(OP_sort, 3, 1, 2, 0.6, axis)));
    CHECK(bound_of(OP_sort, 3, 3, 3, 0, axis) == 0);
    CHECK(isinf(bound_of(OP_log, 0.1, 1, 2, 0.2, NULL)));
    CHECK(isinf(bound_of(OP_rsqrt, 0.1, 1, 2, 0.2, NULL)));
    CHECK(isinf(bound_of(OP_tan, 1.5, 0, 0, 0.2, NULL)));
}

static double pair_bound(Op op, double x, double y, double bound) {
    World w = world_new(1);
    EvalValue in[2] = {three(&w, x, x, x, bound), three(&w, y, y, y, bound)};
    NodeId args[2] = {input(&w, &in[0]), 0};
    args[1] = input(&w, &in[1]);
    EvalValue out = run(&w, apply(&w, op, args, 2, NULL), in);
    double result = out.bound[0];
    world_free(&w);
    return result;
}

static void test_straddling_pairs(void) {
    CHECK(isinf(pair_bound(OP_lt, 1, 1.1, 0.1)));
    CHECK(pair_bound(OP_lt, 1, 1.3, 0.1) == 0);
    CHECK(pair_bound(OP_eq, 1, 1, 0) == 0);
    CHECK(isinf(pair_bound(OP_eq, 1, 1, 0.1)));
    CHECK(isinf(pair_bound(OP_div, 1, 0.05, 0.1)));
    CHECK(isinf(pair_bound(OP_floordiv, 6, 2, 0.01)));
    CHECK(pair_bound(OP_floordiv, 7, 2, 0.01) < 1e-3);
    CHECK(isinf(pair_bound(OP_mod, 6, 2, 0.01)));
    CHECK(pair_bound(OP_mod, 7, 2, 0.01) < 0.1);
    CHECK(isinf(pair_bound(OP_pow, 0.05, 2.5, 0.1)));
    CHECK(pair_bound(OP_add, -(double)INFINITY, 2, 0.01) == 0); // a mask stays certain
}

// select with an uncertain condition: the spread of both sides.
static void test_select(void) {
    World w = world_new(1);
    EvalValue in[3] = {value(&w, DT_bool, 1, 3, 0), three(&w, 1, 1, 1, 0.25),
                       three(&w, 5, 1, 2, 0.5)};
    memcpy(in[0].tensor.data, "\1\1\1", 3);
    in[0].bound = arena_copy(w.arena, (double[]){0, (double)INFINITY, (double)INFINITY}, 24);
    NodeId args[3];
    for (int i = 0; i < 3; i++) args[i] = input(&w, &in[i]);
    EvalValue out = run(&w, apply(&w, OP_select, args, 3, NULL), in);
    CHECK_NEAR(out.bound[0], 0.25, 0);
    CHECK_NEAR(out.bound[1], 0.5, 0);
    CHECK_NEAR(out.bound[2], 1.5, 0);
    world_free(&w);
}

// Integers whose operands are uncertain are so themselves, in every family.
static void test_uncertain_integers(void) {
    World w = world_new(1);
    EvalValue x = value(&w, DT_i32, 1, 3, 0);
    x.bound = arena_copy(w.arena, (double[]){0, (double)INFINITY, 0}, 24);
    NodeId arg = input(&w, &x), args[2] = {arg, arg};
    Attr contract[4] = {{.ints = ir_ints(w.ctx, (int64_t[]){0}, 1)},
                        {.ints = ir_ints(w.ctx, (int64_t[]){0}, 1)},
                        {.ints = ir_ints(w.ctx, NULL, 0)},
                        {.dtype = DT_i32}};
    int64_t ones[] = {1}, none[] = {0}, two[] = {2};
    Attr window[5] = {{.ints = ir_ints(w.ctx, two, 1)},
                      {.ints = ir_ints(w.ctx, ones, 1)},
                      {.ints = ir_ints(w.ctx, ones, 1)},
                      {.ints = ir_ints(w.ctx, none, 1)},
                      {.ints = ir_ints(w.ctx, none, 1)}};
    Attr gather[2] = {{.i = 0}, {.i = 0}}, cumulative[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
    const NodeId nodes[] = {
        apply(&w, OP_contract, args, 2, contract), apply(&w, OP_window_sum, args, 1, window),
        apply(&w, OP_add, args, 2, NULL),          apply(&w, OP_lt, args, 2, NULL),
        apply(&w, OP_gather, args, 2, gather),     apply(&w, OP_cum_max, args, 1, cumulative),
        reduce(&w, OP_reduce_max, arg, DT_i32)};
    const bool last_is_certain[] = {false, false, true, true, true, false, false};
    memcpy(x.tensor.data, (int32_t[]){0, 1, 0}, 12);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        w.g->outputs.count = 0;
        EvalValue out = run(&w, nodes[i], &x);
        int64_t last = tensor_elements(&out.tensor) - 1;
        CHECK_INT(!isinf(out.bound[last]), last_is_certain[i]);
        if (last > 0) CHECK(isinf(out.bound[1]));
    }
    world_free(&w);
}

int main(void) {
    RUN(test_uncertain_integers);
    RUN(test_sums);
    RUN(test_chains);
    RUN(test_scatter_in_order);
    RUN(test_products);
    RUN(test_overflowing_sums);
    RUN(test_contractions);
    RUN(test_unary);
    RUN(test_binary);
    RUN(test_no_slack);
    RUN(test_dropped_cast);
    RUN(test_straddling);
    RUN(test_straddling_pairs);
    RUN(test_select);
    return test_done();
}
