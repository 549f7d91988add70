// Random graphs: fused and not, they give the same values bit for bit, and codegen can build every
// kernel. Dims are 0, 1, small, odd, or dynamic; values have NaN, infinities and zeros among them.
#include "ir/build.h"
#include "tests/support/fuse_check.h"
#include "tests/support/op_cases.h"
#include "tests/unit/test.h"

enum { MAX_POOL = 64, MAX_ELEMENTS = 3000 };

typedef struct Maker {
    IrContext *ctx;
    Arena *arena;
    Graph *graph;
    uint64_t state;
    NodeId pool[MAX_POOL]; // float tensors
    uint32_t count;
    const Dim *n; // the dynamic dim, 0..9, here 5 or 0 or 1
} Maker;

static uint32_t pick(Maker *m, uint32_t below) {
    m->state = hash_word(m->state, 1);
    return (uint32_t)((m->state >> 32) % below);
}

static const Dim *pick_dim(Maker *m) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 17, 33, 0};
    uint32_t at = pick(m, 12);
    if (at >= 9) return at == 9 ? dim_const(m->ctx, 1) : m->n;
    return dim_const(m->ctx, sizes[at == 8 && pick(m, 3) ? 4 : at]);
}

static bool is_small(const Maker *m, const Type *type) {
    return type_elements(m->ctx, type)->hi <= MAX_ELEMENTS;
}

static const Type *type_of(const Maker *m, NodeId id) { return graph_type(m->graph, id); }

static NodeId pick_node(Maker *m) {
    // Younger nodes more often, so that chains become long.
    uint32_t at =
        pick(m, 3) ? m->count - 1 - pick(m, m->count < 4 ? m->count : 4) : pick(m, m->count);
    return m->pool[at];
}

static void keep(Maker *m, NodeId id) {
    const Type *type = type_of(m, id);
    if (m->count == MAX_POOL || !is_small(m, type)) return;
    if (!dtype_is_float(type->dtype)) id = build_cast(m->graph, id, DT_f32);
    m->pool[m->count++] = id;
}

// ---- one op

static NodeId pick_like(Maker *m, NodeId x) {
    uint32_t found = 0, from = pick(m, m->count);
    for (uint32_t i = 0; i < m->count && !found; i++) {
        NodeId y = m->pool[(from + i) % m->count];
        if (type_of(m, y) == type_of(m, x)) return y;
    }
    return x;
}

static NodeId make_unary(Maker *m, NodeId x) {
    static const Op ops[] = {OP_neg, OP_abs, OP_exp, OP_tanh, OP_sqrt, OP_floor, OP_rsqrt, OP_erf};
    return build_unary(m->graph, ops[pick(m, 8)], x);
}

static NodeId make_binary(Maker *m, NodeId x) {
    static const Op ops[] = {OP_add, OP_sub, OP_mul, OP_div, OP_max, OP_min};
    return build_binary(m->graph, ops[pick(m, 6)], x, pick_like(m, x));
}

static NodeId make_select(Maker *m, NodeId x) {
    static const Op ops[] = {OP_lt, OP_ge, OP_eq};
    NodeId c = build_binary(m->graph, ops[pick(m, 3)], x, pick_like(m, x));
    return build_select(m->graph, c, pick_like(m, x), x);
}

static NodeId make_cast(Maker *m, NodeId x) {
    DType to = type_of(m, x)->dtype == DT_f32 ? (pick(m, 2) ? DT_f16 : DT_bf16) : DT_f32;
    return build_cast(m->graph, x, to);
}

static NodeId make_scale(Maker *m, NodeId x) {
    return build_binary(m->graph, OP_mul, x, build_fill(m->graph, type_of(m, x), 0.5));
}

static NodeId make_reshape(Maker *m, NodeId x) {
    const Type *type = type_of(m, x);
    const Dim *dims[TYPE_MAX_RANK];
    uint32_t rank = 0;
    if (type->rank == 0)
        return build_reshape(m->graph, x, (const Dim *[]){dim_const(m->ctx, 1)}, 1);
    uint32_t at = pick(m, type->rank);
    for (uint32_t i = 0; i < type->rank; i++) {
        bool merge = i == at && i + 1 < type->rank && pick(m, 2);
        bool split = i == at && !merge && dim_proves_divisible(type->dims[i], 2) && rank < 6;
        if (merge) {
            dims[rank++] = dim_mul(m->ctx, type->dims[i], type->dims[i + 1]);
            i++;
        } else if (split) {
            dims[rank++] = dim_floordiv(m->ctx, type->dims[i], dim_const(m->ctx, 2));
            dims[rank++] = dim_const(m->ctx, 2);
        } else {
            dims[rank++] = type->dims[i];
        }
    }
    if (rank < 6 && pick(m, 3) == 0) dims[rank++] = dim_const(m->ctx, 1);
    return build_reshape(m->graph, x, dims, rank);
}

static NodeId make_permute(Maker *m, NodeId x) {
    uint32_t rank = type_of(m, x)->rank;
    int64_t perm[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) perm[i] = i;
    for (uint32_t i = rank; i > 1; i--) {
        uint32_t k = pick(m, i);
        int64_t t = perm[i - 1];
        perm[i - 1] = perm[k], perm[k] = t;
    }
    return build_permute(m->graph, x, perm);
}

// A new axis in front, in between or at the end, and 1s that grow.
static NodeId make_broadcast(Maker *m, NodeId x) {
    const Type *type = type_of(m, x);
    if (type->rank >= 4) return x;
    const Dim *dims[TYPE_MAX_RANK];
    int64_t axes[TYPE_MAX_RANK];
    uint32_t at = pick(m, type->rank + 1), rank = 0;
    for (uint32_t i = 0; i <= type->rank; i++) {
        if (i == at) dims[rank++] = pick_dim(m);
        if (i == type->rank) break;
        axes[i] = rank;
        dims[rank++] = dim_equals_int(type->dims[i], 1) ? pick_dim(m) : type->dims[i];
    }
    return build_broadcast(m->graph, x, dims, rank, axes);
}

static NodeId make_slice(Maker *m, NodeId x) {
    const Type *type = type_of(m, x);
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t step[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        bool cut = type->dims[i]->lo >= 3 && pick(m, 2);
        start[i] = dim_const(m->ctx, cut ? 1 : 0);
        limit[i] = cut ? dim_offset(m->ctx, type->dims[i], -1) : type->dims[i];
        step[i] = cut && pick(m, 3) == 0 ? 2 : 1;
    }
    return build_slice(m->graph, x, start, limit, step);
}

static NodeId make_pad(Maker *m, NodeId x) {
    const Type *type = type_of(m, x);
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        lo[i] = dim_const(m->ctx, pick(m, 3) == 0);
        hi[i] = dim_const(m->ctx, pick(m, 3) == 0 ? 2 : 0);
    }
    return build_pad(m->graph, x, build_scalar(m->graph, type->dtype, -0.25), lo, hi);
}

static NodeId make_reverse(Maker *m, NodeId x) {
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return x;
    int64_t axis = pick(m, rank);
    Attr attrs[] = {{.ints = ir_ints(m->ctx, &axis, 1)}};
    return build_op(m->graph, OP_reverse, &x, 1, attrs);
}

static NodeId make_concat(Maker *m, NodeId x) {
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return x;
    Attr attrs[] = {{.i = pick(m, rank)}};
    return build_op(m->graph, OP_concat, (NodeId[]){x, pick_like(m, x)}, 2, attrs);
}

static NodeId make_gather(Maker *m, NodeId x) {
    const Type *type = type_of(m, x);
    if (type->rank == 0 || type->rank > 3) return x;
    uint32_t axis = pick(m, type->rank);
    if (type->dims[axis]->lo < 2) return x;
    const Dim *dims[] = {dim_const(m->ctx, 3)};
    NodeId index = build_iota(m->graph, type_tensor(m->ctx, DT_i64, 1, dims), 0);
    NodeId minus = build_fill(m->graph, type_of(m, index), -2);
    index = build_binary(m->graph, OP_max, build_unary(m->graph, OP_neg, index), minus);
    Attr attrs[] = {{.i = axis}, {.i = 0}};
    return build_op(m->graph, OP_gather, (NodeId[]){x, index}, 2, attrs);
}

static NodeId make_reduce(Maker *m, NodeId x) {
    static const Op ops[] = {OP_reduce_sum, OP_reduce_max, OP_reduce_sum, OP_reduce_min};
    const Type *type = type_of(m, x);
    if (type->rank == 0) return x;
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count = 0;
    if (pick(m, 2))
        axes[count++] = type->rank - 1;
    else
        for (uint32_t i = 0; i < type->rank; i++)
            if (pick(m, 2)) axes[count++] = i;
    NodeId y = build_reduce(m->graph, ops[pick(m, 4)], x, axes, count);
    if (count != 1 || pick(m, 3) == 0) return y;
    int64_t back[TYPE_MAX_RANK]; // often the row is normalised by it
    for (uint32_t i = 0, k = 0; i < type->rank; i++)
        if (i != axes[0]) back[k++] = i;
    NodeId wide = build_broadcast(m->graph, y, type->dims, type->rank, back);
    return build_binary(m->graph, pick(m, 2) ? OP_sub : OP_div, x, wide);
}

static NodeId make_argmax(Maker *m, NodeId x) {
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return x;
    Attr attrs[] = {{.i = pick(m, rank)}};
    return build_op(m->graph, pick(m, 2) ? OP_argmax : OP_argmin, &x, 1, attrs);
}

static NodeId make_contract(Maker *m, NodeId x) {
    const Type *type = type_of(m, x);
    if (type->rank == 0 || type->rank > 3) return x;
    // "…k, jk -> …j" with a fresh operand, or a product of x with itself along its last axis.
    int64_t a[TYPE_MAX_RANK], out[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) a[i] = out[i] = i;
    int64_t b[] = {10, type->rank - 1};
    out[type->rank - 1] = 10;
    const Dim *dims[] = {pick_dim(m), type->dims[type->rank - 1]};
    NodeId w = graph_add_input(m->graph, STR("w"), type_tensor(m->ctx, type->dtype, 2, dims), NULL);
    Attr attrs[] = {{.ints = ir_ints(m->ctx, a, type->rank)},
                    {.ints = ir_ints(m->ctx, b, 2)},
                    {.ints = ir_ints(m->ctx, out, type->rank)},
                    {.dtype = type->dtype}};
    return build_op(m->graph, OP_contract, (NodeId[]){x, w}, 2, attrs);
}

static NodeId make_cumulative(Maker *m, NodeId x) {
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return x;
    Attr attrs[] = {{.i = pick(m, rank)}, {.i = pick(m, 2)}, {.i = pick(m, 2)}};
    return build_op(m->graph, pick(m, 2) ? OP_cum_sum : OP_cum_max, &x, 1, attrs);
}

static NodeId make_window(Maker *m, NodeId x) {
    const Type *type = type_of(m, x);
    int64_t window[TYPE_MAX_RANK], one[TYPE_MAX_RANK], zero[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        one[i] = 1;
        zero[i] = 0;
        window[i] = type->dims[i]->lo >= 2 && pick(m, 2) ? 2 : 1;
    }
    const IntList *w = ir_ints(m->ctx, window, type->rank),
                  *ones = ir_ints(m->ctx, one, type->rank);
    const IntList *none = ir_ints(m->ctx, zero, type->rank);
    Attr attrs[] = {{.ints = w}, {.ints = ones}, {.ints = ones}, {.ints = none}, {.ints = none}};
    return build_op(m->graph, pick(m, 2) ? OP_window_sum : OP_window_max, &x, 1, attrs);
}

static NodeId make_sort(Maker *m, NodeId x) {
    uint32_t rank = type_of(m, x)->rank;
    if (rank == 0) return x;
    Attr attrs[] = {{.i = pick(m, rank)}, {.i = pick(m, 2)}};
    NodeId sorted = build_op(m->graph, OP_sort, &x, 1, attrs);
    if (pick(m, 3) == 0) keep(m, build_item(m->graph, sorted, 1));
    return build_item(m->graph, sorted, 0);
}

typedef NodeId Make(Maker *, NodeId);
static const struct {
    Make *make;
    uint32_t weight;
} makes[] = {{make_unary, 6},  {make_binary, 8},     {make_select, 2},  {make_cast, 2},
             {make_scale, 3},  {make_reshape, 3},    {make_permute, 3}, {make_broadcast, 3},
             {make_slice, 2},  {make_pad, 2},        {make_reverse, 1}, {make_concat, 2},
             {make_gather, 1}, {make_reduce, 7},     {make_argmax, 1},  {make_contract, 3},
             {make_window, 1}, {make_cumulative, 1}, {make_sort, 1}};
enum { MAKES = sizeof makes / sizeof *makes };

static void make_node(Maker *m) {
    uint32_t total = 0;
    for (int i = 0; i < MAKES; i++) total += makes[i].weight;
    uint32_t at = pick(m, total), i = 0;
    while (at >= makes[i].weight) at -= makes[i++].weight;
    keep(m, makes[i].make(m, pick_node(m)));
}

// ---- a graph

static NodeId add_input(Maker *m) {
    const Dim *dims[4];
    uint32_t rank = pick(m, 4);
    for (uint32_t i = 0; i < rank; i++) dims[i] = pick_dim(m);
    const Type *type = type_tensor(m->ctx, DT_f32, rank, dims);
    while (!is_small(m, type)) type = type_tensor(m->ctx, DT_f32, --rank, dims);
    return graph_add_input(m->graph, STR("x"), type, NULL);
}

static void make_graph(Maker *m, uint32_t nodes) {
    m->n = dim_of_symbol(m->ctx, dim_new_symbol(m->ctx, SYMBOL_named, STR("N"), 0, 9, 5, NULL));
    m->graph = graph_new(m->ctx, m->arena, STR("random"));
    for (int i = 0; i < 2; i++) keep(m, add_input(m));
    for (uint32_t i = 0; i < nodes; i++) make_node(m);
    graph_add_output(m->graph, STR("a"), m->pool[m->count - 1]);
    for (uint32_t i = pick(m, 3); i > 0; i--) graph_add_output(m->graph, STR("b"), pick_node(m));
}

static uint32_t all_ops, all_kernels;

static uint32_t count_ops(const Graph *graph, Arena *arena) {
    const bool *live = graph_find_live(graph, arena);
    uint32_t count = 0;
    for (NodeId id = 0; id < graph->nodes.count; id++)
        count += live[id] && op_info(graph_node(graph, id)->op)->class != CLASS_LEAF;
    return count;
}

static bool run_case(uint64_t seed, FuseKernels kernels) {
    Arena *arena = arena_new(NULL);
    Maker m = {.arena = arena, .ctx = ir_context_new(arena), .state = seed};
    make_graph(&m, 3 + pick(&m, 24));
    int64_t *symbols = NEW_ARRAY(arena, int64_t, dim_symbol_count(m.ctx) + 4096);
    static const int64_t settings[] = {5, 5, 1, 0, 9};
    symbols[dim_find_symbol(m.ctx, STR("N"))->id] = settings[pick(&m, 5)];
    EvalValue *inputs = NEW_ARRAY(arena, EvalValue, m.graph->inputs.count);
    for (size_t i = 0; i < m.graph->inputs.count; i++)
        op_case_tensor(arena, graph_type(m.graph, m.graph->inputs.data[i]), symbols, seed + i, 0,
                       &inputs[i].tensor);
    FuseCheck check = {.ctx = m.ctx,
                       .graph = m.graph,
                       .passes = seed % 2 ? STR("decompose") : STR("decompose,fold"),
                       .symbols = symbols,
                       .inputs = inputs,
                       .kernels = kernels};
    FuseResult result;
    const char *fault = fuse_check(&check, arena, &result);
    bool good = CHECK(fault == NULL);
    all_ops += count_ops(m.graph, arena);
    all_kernels += result.kernels;
    if (!good) printf("    seed %llu: %.6000s\n", (unsigned long long)seed, fault);
    ir_context_free(m.ctx);
    arena_free(arena);
    return good;
}

// TCC_TEST_SEED runs one seed alone.
static void test_random_graphs(void) {
    const char *only = getenv("TCC_TEST_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1, faults = 0;
    uint64_t last = only ? first : test_long() ? 20000 : 2000;
    for (uint64_t seed = first; seed <= last && faults < 5; seed++) {
        bool compile = only || (test_long() && seed % 50 == 0), interpret = seed % 5 == 0;
        faults += !run_case(seed, compile     ? FUSE_kernels_compiled
                                  : interpret ? FUSE_kernels_interpreted
                                              : FUSE_kernels_built);
    }
    printf("       %u ops in %u kernels\n", all_ops, all_kernels);
    CHECK(only || all_ops > 3 * all_kernels);
}

int main(void) {
    RUN(test_random_graphs);
    return test_done();
}
