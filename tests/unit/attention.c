// Attention kernels, generated: every dtype, lengths that are odd or shorter than a block, dims
// that vary, heads that share keys, every kind of mask; evaluator, tile programs in both states,
// compiled code for AVX2 and AVX-512 (to the same bits), and PTX on the software device.
#include "codegen/skeleton/skeleton.h"
#include "ir/build.h"
#include "ir/schedule.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_cases.h"
#include "tests/unit/test.h"

typedef enum Mask {
    MASK_none,
    MASK_causal,
    MASK_window,    // the last few keys before the query's place
    MASK_both_ways, // |query - key| < a few
    MASK_added,     // numbers from memory, some -inf
    MASK_chosen,    // bools from memory; some rows have none
    MASK_capped,    // tanh, then causal
    MASK_count
} Mask;

typedef struct Shape {
    int64_t batch, groups, shared, queries, keys, width, columns;
    DType dtype;
    Mask mask;
    bool safe, varies, resident, spread; // spread: keys are repeated over heads by a broadcast
} Shape;

typedef struct Maker {
    IrContext *ctx;
    Graph *g;
    const Shape *shape;
    DType wide;
    const Dim *dims[5]; // batch, groups, shared, queries, keys
} Maker;

enum { QUERIES = 3, KEYS = 4 };

static const Dim *extent(Maker *m, const char *name, int64_t value) {
    if (!m->shape->varies) return dim_const(m->ctx, value);
    return dim_of_symbol(m->ctx, dim_new_symbol(m->ctx, SYMBOL_named, str_from(name), 1, 500,
                                                value < 100 ? 130 : 20, NULL));
}

static NodeId input(Maker *m, const char *name, DType dtype, uint32_t rank, const Dim **dims) {
    return graph_add_input(m->g, str_from(name), type_tensor(m->ctx, dtype, rank, dims), NULL);
}

// As wide as the sums are.
static NodeId widened(Maker *m, NodeId x) {
    return graph_type(m->g, x)->dtype == m->wide ? x : build_cast(m->g, x, m->wide);
}

static NodeId einsum(Maker *m, NodeId x, NodeId y, const char *a, const char *b, const char *out) {
    const char *texts[] = {a, b, out};
    Attr attrs[4] = {{0}};
    for (int i = 0; i < 3; i++) {
        int64_t labels[TYPE_MAX_RANK];
        uint32_t count = 0;
        for (const char *p = texts[i]; *p; p++) labels[count++] = *p - 'a';
        attrs[i].ints = ir_ints(m->ctx, labels, count);
    }
    attrs[3].dtype = m->wide;
    NodeId args[] = {x, y};
    return build_op(m->g, OP_contract, args, 2, attrs);
}

static NodeId number(Maker *m, double value) {
    return build_broadcast(m->g, build_scalar(m->g, m->wide, value), m->dims, 5, NULL);
}

static NodeId place(Maker *m, uint32_t axis) {
    return build_iota(m->g, type_tensor(m->ctx, DT_i64, 5, m->dims), axis);
}

static NodeId whole(Maker *m, int64_t value) {
    return build_broadcast(m->g, build_scalar_int(m->g, DT_i64, value), m->dims, 5, NULL);
}

static NodeId op2(Maker *m, Op op, NodeId x, NodeId y) { return build_binary(m->g, op, x, y); }

static NodeId masked(Maker *m, NodeId scores) {
    NodeId query = place(m, QUERIES), key = place(m, KEYS), none = number(m, -INFINITY);
    NodeId causal = op2(m, OP_le, key, query), after = op2(m, OP_sub, query, key);
    switch (m->shape->mask) {
    case MASK_causal: return build_select(m->g, causal, scores, none);
    case MASK_window:
        return build_select(m->g, op2(m, OP_and, causal, op2(m, OP_lt, after, whole(m, 33))),
                            scores, none);
    case MASK_both_ways: {
        NodeId apart = build_unary(m->g, OP_abs, after);
        NodeId outside = op2(m, OP_ge, apart, whole(m, 20));
        NodeId mask = build_select(m->g, outside, none, number(m, 0));
        return op2(m, OP_add, scores, mask);
    }
    case MASK_added: {
        NodeId mask = input(m, "mask", m->shape->dtype, 2, m->dims + QUERIES);
        NodeId wide = widened(m, mask);
        return op2(m, OP_add, scores,
                   build_broadcast(m->g, wide, m->dims, 5, (int64_t[]){QUERIES, KEYS}));
    }
    case MASK_chosen: {
        const Dim *dims[] = {m->dims[0], m->dims[QUERIES], m->dims[KEYS]};
        NodeId mask = input(m, "mask", DT_bool, 3, dims);
        NodeId wide = build_broadcast(m->g, mask, m->dims, 5, (int64_t[]){0, QUERIES, KEYS});
        return build_select(m->g, wide, scores, none);
    }
    case MASK_capped: {
        NodeId capped = build_unary(m->g, OP_tanh, op2(m, OP_mul, scores, number(m, 0.25)));
        return build_select(m->g, causal, op2(m, OP_mul, capped, number(m, 4)), none);
    }
    default: return scores;
    }
}

static NodeId spread(Maker *m, NodeId x) {
    return build_broadcast(m->g, x, m->dims, 5, (int64_t[]){0, 1, 2, QUERIES});
}

// q[b, g, r, t, d], k[b, g, s, d], v[b, g, s, n]
static NodeId attention(Maker *m) {
    const Shape *s = m->shape;
    const Dim *const *d = m->dims;
    const Dim *width = dim_const(m->ctx, s->width), *columns = dim_const(m->ctx, s->columns);
    const Dim *q_dims[] = {d[0], d[1], d[2], d[QUERIES], width};
    const Dim *k_dims[] = {d[0], d[1], d[KEYS], width}, *v_dims[] = {d[0], d[1], d[KEYS], columns};
    const Dim *wide_dims[] = {d[0], d[1], d[2], d[KEYS], width};
    NodeId q = widened(m, input(m, "q", s->dtype, 5, q_dims));
    NodeId k = widened(m, input(m, "k", s->dtype, 4, k_dims));
    NodeId v = widened(m, input(m, "v", s->dtype, 4, v_dims));
    if (s->spread) k = build_broadcast(m->g, k, wide_dims, 5, (int64_t[]){0, 1, 3, 4});
    NodeId scores = einsum(m, q, k, "bgrtd", s->spread ? "bgrsd" : "bgsd", "bgrts");
    NodeId a = masked(m, op2(m, OP_mul, scores, number(m, 0.5)));
    NodeId top = build_reduce(m->g, OP_reduce_max, a, (int64_t[]){KEYS}, 1);
    NodeId from = spread(m, top);
    if (s->safe)
        from = build_select(m->g, op2(m, OP_eq, from, number(m, -INFINITY)), number(m, 0), from);
    NodeId e = build_unary(m->g, OP_exp, op2(m, OP_sub, a, from));
    NodeId sum = build_reduce(m->g, OP_reduce_sum, e, (int64_t[]){KEYS}, 1);
    NodeId o = einsum(m, e, v, "bgrts", "bgsn", "bgrtn");
    const Dim *out[] = {d[0], d[1], d[2], d[QUERIES], columns};
    if (s->safe) {
        const Type *type = graph_type(m->g, sum);
        sum = op2(m, OP_max, sum, build_fill(m->g, type, 0.5));
    }
    NodeId l = build_broadcast(m->g, sum, out, 5, (int64_t[]){0, 1, 2, QUERIES});
    NodeId y = op2(m, OP_div, o, l);
    return m->wide == s->dtype ? y : build_cast(m->g, y, s->dtype);
}

static Graph *make(IrContext *ctx, Arena *arena, const Shape *s, int64_t *symbols) {
    Maker m = {.ctx = ctx, .g = graph_new(ctx, arena, STR("attention")), .shape = s};
    m.wide = dtype_compute(s->dtype);
    m.dims[0] = dim_const(ctx, s->batch);
    m.dims[1] = dim_const(ctx, s->groups);
    m.dims[2] = dim_const(ctx, s->shared);
    m.dims[QUERIES] = extent(&m, "T", s->queries);
    m.dims[KEYS] = extent(&m, "S", s->keys);
    graph_add_output(m.g, STR("y"), attention(&m));
    if (s->varies) {
        symbols[dim_find_symbol(ctx, STR("T"))->id] = s->queries;
        symbols[dim_find_symbol(ctx, STR("S"))->id] = s->keys;
    }
    return m.g;
}

// Masks from memory: -inf, or false, at two of three places, and all along some rows.
static void punch(Tensor *mask, int64_t keys) {
    for (int64_t i = 0; i < tensor_elements(mask); i++) {
        bool out = i % 3 != 0 || i / keys % 5 == 2;
        if (mask->dtype == DT_bool)
            tensor_set_int(mask, i, !out);
        else if (out)
            tensor_set(mask, i, -INFINITY);
    }
}

static EvalValue *values_of(Arena *arena, const Graph *g, const Shape *s, const int64_t *symbols) {
    EvalValue *inputs = NEW_ARRAY(arena, EvalValue, g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++) {
        Tensor *t = &inputs[i].tensor;
        op_case_tensor(arena, graph_type(g, g->inputs.data[i]), symbols, i + 1, 0, t);
        op_case_fill(t, VALUES_tame, i + 7, 0);
        if (i == 3) punch(t, s->keys);
    }
    return inputs;
}

static long cases;

static void check_shape(const Shape *s, bool compile, const Schedule *schedule, Emulated *device) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    int64_t symbols[64] = {0};
    Graph *g = make(ctx, arena, s, symbols);
    KernelCase test = {.ctx = ctx,
                       .region = g,
                       .skeleton = STR("attention"),
                       .strategy = s->resident ? STR("resident") : STR("stream"),
                       .symbols = symbols,
                       .inputs = values_of(arena, g, s, symbols),
                       .compile = compile,
                       .same_bits = true,
                       .schedule = schedule};
    if (device != NULL) {
        test.gpu = "sm_80";
        test.device = device;
    }
    const char *fault = kernel_case_run(&test, arena);
    cases++;
    if (!CHECK(fault == NULL))
        printf("    %s mask %d: %lld x %lld x %lld heads, %lld queries, %lld keys, %lld wide, %lld "
               "columns%s%s%s%s: %.1200s\n",
               dtype_name(s->dtype), s->mask, (long long)s->batch, (long long)s->groups,
               (long long)s->shared, (long long)s->queries, (long long)s->keys, (long long)s->width,
               (long long)s->columns, s->safe ? " safe" : "", s->varies ? " varying" : "",
               s->resident ? " resident" : "", s->spread ? " spread" : "", fault);
    ir_context_free(ctx);
    arena_free(arena);
}

static uint64_t state = 1;
static int64_t draw(const int64_t *from, size_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from[(state >> 33) % count];
}
#define DRAW(...) draw((int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static Shape random_shape(int number) {
    Shape s = {.batch = DRAW(1, 1, 2),
               .groups = DRAW(1, 1, 2),
               .shared = DRAW(1, 1, 3),
               .queries = DRAW(1, 3, 15, 16, 17, 31, 48, 65),
               .keys = DRAW(1, 5, 13, 63, 64, 65, 130, 193),
               .width = DRAW(8, 16, 32, 40, 64, 7),
               .columns = DRAW(8, 16, 32, 48, 64, 20, 3),
               .dtype = (DType)DRAW(DT_f32, DT_f32, DT_bf16, DT_f16, DT_f64),
               .mask = (Mask)(number % MASK_count),
               .safe = DRAW(0, 0, 1) != 0,
               .varies = DRAW(0, 1) != 0,
               .resident = DRAW(0, 1) != 0,
               .spread = DRAW(0, 1) != 0};
    if (s.varies) s.resident = false;
    return s;
}

static void test_random_shapes(void) {
    int count = test_long() ? 400 : 8;
    Emulated device;
    bool opened = CHECK(emulated_open(&device, "sm_80"));
    for (int i = 0; i < count; i++) {
        Shape s = random_shape(i);
        bool small = s.batch * s.groups * s.shared * s.queries * s.keys < 20000;
        check_shape(&s, true, NULL, opened && i % 5 == 0 && small ? &device : NULL);
    }
    if (opened) emulated_close(&device);
    printf("       %ld cases\n", cases);
}

// Every width that models have, and every mask with keys in several blocks.
static void test_widths(void) {
    static const int64_t widths[] = {32, 64, 80, 96, 128, 256};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        Shape s = {.batch = 1, .groups = 1, .shared = 1, .queries = 5, .keys = 9};
        s.width = s.columns = widths[i];
        s.dtype = i % 2 ? DT_bf16 : DT_f32;
        s.mask = MASK_causal;
        check_shape(&s, true, NULL, NULL);
    }
}

static void test_masks(void) {
    for (Mask mask = 0; mask < MASK_count; mask++) {
        Shape s = {.batch = 1, .groups = 1, .shared = 1, .queries = 33, .keys = 197};
        s.width = s.columns = 8;
        s.dtype = DT_f32;
        s.mask = mask;
        s.safe = mask % 2 != 0;
        s.varies = mask % 3 != 0;
        check_shape(&s, true, NULL, NULL);
    }
}

// The size of blocks of queries is the schedule's, and no bits depend on it.
static void test_schedules(void) {
    Shape s = {.batch = 1,
               .groups = 2,
               .shared = 1,
               .queries = 70,
               .keys = 75,
               .width = 24,
               .columns = 40,
               .dtype = DT_f32,
               .mask = MASK_causal};
    for (int64_t queries = 32; queries <= 64; queries += 32) {
        Schedule schedule = {.queries = queries, .unroll = 4, .grain = 4096};
        check_shape(&s, true, &schedule, NULL);
    }
}

static void test_refused_schedules(void) {
    Arena *arena = arena_new(NULL);
    IrContext *ctx = ir_context_new(arena);
    int64_t symbols[64] = {0};
    Shape s = {.batch = 1,
               .groups = 1,
               .shared = 1,
               .queries = 70,
               .keys = 20,
               .width = 24,
               .columns = 40,
               .dtype = DT_f32};
    SkeletonRequest request = {.ctx = ctx,
                               .arena = arena,
                               .region = make(ctx, arena, &s, symbols),
                               .name = STR("kernel"),
                               .target = target_find(STR("x86-64-v3")),
                               .schedule = {.queries = 24},
                               .state = TILE_placed};
    const char *why = NULL;
    CHECK(skeleton_build_attention(&request, &why) == NULL);
    CHECK_STR(why, "queries=24 is no multiple of the 16 lanes");
    ir_context_free(ctx);
    arena_free(arena);
}

int main(void) {
    RUN(test_random_shapes);
    RUN(test_widths);
    RUN(test_masks);
    RUN(test_schedules);
    RUN(test_refused_schedules);
    return test_done();
}
