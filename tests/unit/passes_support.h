// What the tests of passes share: a context, random inputs with special values, evaluation and
// comparison.
#ifndef TCC_TESTS_UNIT_PASSES_SUPPORT_H
#define TCC_TESTS_UNIT_PASSES_SUPPORT_H

#include "ir/build.h"
#include "ir/eval.h"
#include "passes/pass.h"
#include "tests/unit/test.h"

typedef struct Bench {
    Arena *arena;
    IrContext *ir;
    PassContext ctx;
    const char *last_error; // id of the last diagnostic
} Bench;

static inline void bench_sink(void *user, const Diag *diag) {
    ((Bench *)user)->last_error = diag->id;
}

static inline void bench_open(Bench *b) {
    *b = (Bench){.arena = arena_new(NULL)};
    b->ir = ir_context_new(b->arena);
    b->ctx = (PassContext){.ir = b->ir, .arena = b->arena, .scratch = arena_new(NULL)};
    b->ctx.diags = diags_new(b->arena, bench_sink, b, 0);
    b->ctx.target = target_find(STR("x86-64-v3"));
    b->ctx.options.rewrite_limit = -1;
    b->ctx.options.level = 2;
    b->ctx.options.round_trip = true;
}

static inline void bench_close(Bench *b) {
    arena_free(b->ctx.scratch);
    ir_context_free(b->ir);
    arena_free(b->arena);
}

static inline Graph *bench_graph(Bench *b) { return graph_new(b->ir, b->arena, STR("test")); }

static inline const Type *bench_type(Bench *b, DType dtype, uint32_t rank, const int64_t *dims) {
    const Dim *list[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) list[i] = dim_const(b->ir, dims[i]);
    return type_tensor(b->ir, dtype, rank, list);
}

#define TYPE(b, dtype, ...)                                                                        \
    bench_type((b), (dtype), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                   \
               (int64_t[]){__VA_ARGS__})

// xorshift, seeded by the test.
static inline uint64_t test_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline double test_uniform(uint64_t *state) {
    return (double)(test_random(state) >> 11) * 0x1p-52 - 1;
}

// A tensor of the type's dims (under `symbols`) with numbers of small size.
static inline Tensor test_tensor(Arena *arena, const Type *type, const int64_t *symbols,
                                 uint64_t *seed) {
    Tensor t = {.dtype = type->dtype, .rank = type->rank};
    for (uint32_t i = 0; i < type->rank; i++) dim_evaluate(type->dims[i], symbols, &t.dims[i]);
    t.data = arena_alloc(arena, tensor_bytes(&t));
    for (int64_t i = 0; i < tensor_elements(&t); i++) {
        double value = test_uniform(seed);
        tensor_set(&t, i, dtype_is_float(t.dtype) ? value : floor(value * 5));
    }
    return t;
}

// What arithmetic goes wrong on: NaN, infinities, zeros, denormals, the ends of the range.
static inline uint32_t test_specials(DType dtype, double *out) {
    const DTypeInfo *info = dtype_info(dtype);
    double step = ldexp(info->least, 1 - (int)info->precision);
    double floats[] = {NAN,         INFINITY,     -INFINITY, 0.0,   -0.0, 1,          -1,
                       0.5,         -2,           3,         0.3,   -0.7, info->most, -info->most,
                       info->least, -info->least, step,      -step, 7.25};
    double ints[] = {info->least, info->most, 0, 1, 2, 3, 7, -1, -2, -7, 5, 100};
    bool is_float = info->class == DTYPE_FLOAT;
    size_t size = is_float ? sizeof floats : sizeof ints;
    memcpy(out, is_float ? floats : ints, size);
    return (uint32_t)(size / sizeof(double));
}

static inline double test_value(const Tensor *t, int64_t i) { return tensor_get(t, i); }

// Equal to the last bit, any NaN being equal to any other.
static inline bool same_element(const Tensor *a, const Tensor *b, int64_t i) {
    if (!dtype_is_float(a->dtype)) return tensor_get_int(a, i) == tensor_get_int(b, i);
    double x = tensor_get(a, i), y = tensor_get(b, i);
    return (isnan(x) && isnan(y)) || (x == y && !signbit(x) == !signbit(y));
}

static inline bool near_element(const Tensor *a, const Tensor *b, int64_t i, double tolerance) {
    if (same_element(a, b, i)) return true;
    double x = tensor_get(a, i), y = tensor_get(b, i);
    return fabs(x - y) <= tolerance * (1 + fabs(x));
}

static inline bool same_shape(const Tensor *a, const Tensor *b) {
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i];
    return same;
}

// The first element where they differ by more than the tolerance (0: at all), -1 when none does.
static inline int64_t first_difference(const Tensor *a, const Tensor *b, double tolerance) {
    if (!same_shape(a, b)) return INT64_MAX;
    for (int64_t i = 0; i < tensor_elements(a); i++) {
        if (tolerance == 0 ? !same_element(a, b, i) : !near_element(a, b, i, tolerance)) return i;
    }
    return -1;
}

// Evaluates; a refusal is a failed check.
static inline Tensor *test_eval(Arena *arena, const Graph *g, const Tensor *inputs,
                                const int64_t *symbols) {
    EvalValue *values = NEW_ARRAY(arena, EvalValue, g->inputs.count);
    EvalValue *results = NEW_ARRAY(arena, EvalValue, g->outputs.count);
    Tensor *tensors = NEW_ARRAY(arena, Tensor, g->outputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) values[i].tensor = inputs[i];
    EvalError error = {.failed = false};
    const char *message = "";
    bool good =
        eval_graph(g, values, &(EvalOptions){.symbols = symbols}, arena, results, &error, &message);
    if (!CHECK(good)) printf("    %s\n", message);
    for (size_t i = 0; good && i < g->outputs.count; i++) tensors[i] = results[i].tensor;
    return tensors;
}

static inline uint32_t count_op(const Graph *g, Op op) {
    uint32_t count = 0;
    for (size_t i = 0; i < g->nodes.count; i++) count += g->nodes.data[i].op == op;
    return count;
}

#endif
