// Random models through all passes to programs whose buffers have their planned places: run over
// these places at every value of the dim, in one kernel an op and fused, they give what the graph
// gives, and a kernel that writes over its operand reads no other element of it. Some tensors grow
// with the dim, some shrink as it grows; most are read more than once, in other places than they
// are written, and many are results, so that fusion has cycles to avoid.
#include "ir/program_tools.h"
#include "tests/unit/passes_support.h"

static long in_place; // kernels that were seen to write over an operand

enum { MOST = 9, WIDTH = 4, MAX_POOL = 24 };

typedef struct Models {
    Bench b;
    Graph *g;
    uint64_t state;
    const Dim *n;
    NodeId pool[MAX_POOL]; // of [rows, WIDTH] or [rows], rows being a dim
    uint32_t count;
} Models;

static uint32_t pick(Models *m, uint32_t below) {
    return (uint32_t)(test_random(&m->state) >> 33) % below;
}

static const Type *type_of(const Models *m, NodeId x) { return graph_type(m->g, x); }

static const Dim *number(Models *m, int64_t value) { return dim_const(m->b.ir, value); }

static NodeId pick_node(Models *m) { return m->pool[pick(m, m->count)]; }

static NodeId pick_like(Models *m, NodeId x) {
    uint32_t from = pick(m, m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        NodeId y = m->pool[(from + i) % m->count];
        if (type_of(m, y) == type_of(m, x)) return y;
    }
    return x;
}

// N, what N lacks to its greatest value, and what both are made of.
static const Dim *pick_rows(Models *m) {
    const Dim *rest = dim_sub(m->b.ir, number(m, MOST), m->n);
    switch (pick(m, 6)) {
    case 0: return rest;
    case 1: return dim_offset(m->b.ir, rest, 2);
    case 2: return dim_floordiv(m->b.ir, m->n, number(m, 2));
    case 3: return dim_scale(m->b.ir, rest, 3);
    default: return m->n;
    }
}

// ---- the ops ------------------------------------------------------------------------------------

static NodeId unary(Models *m, NodeId x) {
    static const Op ops[] = {OP_neg, OP_abs, OP_floor, OP_sqrt};
    return build_unary(m->g, ops[pick(m, 4)], x);
}

static NodeId binary(Models *m, NodeId x) {
    static const Op ops[] = {OP_add, OP_sub, OP_mul, OP_max};
    return build_binary(m->g, ops[pick(m, 4)], x, pick_like(m, x));
}

static NodeId reversed(Models *m, NodeId x) {
    int64_t axis = pick(m, type_of(m, x)->rank);
    return build_op(m->g, OP_reverse, &x, 1, (Attr[]){{.ints = ir_ints(m->b.ir, &axis, 1)}});
}

// The rows are repeated or padded to other rows: they are cut off below, or zeros come behind.
static NodeId resized(Models *m, NodeId x) {
    const Type *type = type_of(m, x);
    const Dim *rows = pick_rows(m), *zero = number(m, 0);
    const Dim *more = dim_max(m->b.ir, dim_sub(m->b.ir, rows, type->dims[0]), zero);
    const Dim *padding[] = {more, zero}, *zeros[] = {zero, zero};
    NodeId padded = build_pad(m->g, x, build_scalar(m->g, DT_f32, 3), zeros, padding);
    const Dim *limit[] = {rows, number(m, WIDTH)};
    if (!dim_proves_le(m->b.ir, rows, type_of(m, padded)->dims[0])) return padded;
    return build_slice(m->g, padded, zeros, limit, (int64_t[]){1, 1});
}

static NodeId other_rank(Models *m, NodeId x) {
    const Type *type = type_of(m, x);
    const Dim *dims[] = {type->dims[0], number(m, WIDTH)};
    if (type->rank == 1) return build_broadcast(m->g, x, dims, 2, (int64_t[]){0});
    if (pick(m, 2)) return build_reduce(m->g, OP_reduce_max, x, (int64_t[]){1}, 1);
    const Dim *start[] = {number(m, 0), number(m, 1)}, *limit[] = {dims[0], number(m, 2)};
    NodeId column = build_slice(m->g, x, start, limit, (int64_t[]){1, 1});
    return build_reshape(m->g, column, dims, 1);
}

// Every row gets what a row of numbers holds, over all rows.
static NodeId spread(Models *m, NodeId x) {
    const Type *type = type_of(m, x);
    NodeId all = build_reduce(m->g, OP_reduce_max, x, (int64_t[]){0}, 1);
    int64_t axes[] = {1};
    NodeId back = build_broadcast(m->g, all, type->dims, type->rank, axes);
    return build_binary(m->g, OP_min, x, back);
}

static void make_node(Models *m) {
    static NodeId (*const ops[])(Models *, NodeId) = {
        unary, binary, binary, reversed, resized, resized, other_rank, other_rank, spread};
    NodeId made = ops[pick(m, sizeof ops / sizeof *ops)](m, pick_node(m));
    if (m->count < MAX_POOL) m->pool[m->count++] = made;
}

static void make_model(Models *m) {
    m->g = bench_graph(&m->b);
    const DimSymbol *n = dim_new_symbol(m->b.ir, SYMBOL_named, STR("N"), 1, MOST, 3, NULL);
    m->n = dim_of_symbol(m->b.ir, n);
    const Dim *dims[] = {m->n, number(m, WIDTH)};
    m->count = 0;
    for (uint32_t rank = 1; rank <= 2; rank++) {
        const Type *type = type_tensor(m->b.ir, DT_f32, rank, dims);
        m->pool[m->count++] = graph_add_input(m->g, rank == 1 ? STR("z") : STR("x"), type, NULL);
    }
    for (uint32_t i = 6 + pick(m, 16); i > 0; i--) make_node(m);
    for (uint32_t i = m->count, outputs = 0; i-- > 2;) {
        if (outputs > 0 && pick(m, 2)) continue;
        Str name = str_format(m->b.arena, "y%u", outputs++);
        graph_add_output(m->g, name, m->pool[i]);
    }
}

// ---- the comparison -----------------------------------------------------------------------------

static Program *compile(Models *m, const char *passes) {
    m->b.ctx.options.passes = str_from(passes);
    PassResult result = {.program = NULL};
    CHECK(passes_run(&m->b.ctx, m->b.arena, m->g, &result) && result.program);
    return result.program;
}

static bool check_at(Models *m, const Program *program, int64_t n) {
    uint64_t seed = 11;
    Tensor inputs[2], *got = NEW_ARRAY(m->b.arena, Tensor, m->g->outputs.count);
    for (int i = 0; i < 2; i++)
        inputs[i] = test_tensor(m->b.arena, type_of(m, m->pool[i]), &n, &seed);
    const Tensor *want = test_eval(m->b.arena, m->g, inputs, &n);
    const char *message = "";
    if (!CHECK(program_eval(program, inputs, &n, m->b.arena, got, &message))) {
        printf("    N = %d: %s\n", (int)n, message);
        return false;
    }
    for (size_t i = 0; i < m->g->outputs.count; i++)
        if (!CHECK_INT(first_difference(&want[i], &got[i], 0), -1)) {
            printf("    output %zu for N = %d\n", i, (int)n);
            return false;
        }
    return true;
}

// Whether any element of the output depends on an element of the input at another place.
static bool moves(Models *m, const Graph *region, uint32_t input, uint32_t output, int64_t n) {
    uint64_t seed = 3;
    Tensor *inputs = NEW_ARRAY(m->b.arena, Tensor, region->inputs.count);
    for (size_t i = 0; i < region->inputs.count; i++) {
        const Type *type = graph_type(region, region->inputs.data[i]);
        inputs[i] = test_tensor(m->b.arena, type, &n, &seed);
    }
    Tensor before = test_eval(m->b.arena, region, inputs, &n)[output];
    for (int64_t i = 0; i < tensor_elements(&inputs[input]); i++) {
        double value = tensor_get(&inputs[input], i);
        tensor_set(&inputs[input], i, value + 8);
        Tensor after = test_eval(m->b.arena, region, inputs, &n)[output];
        tensor_set(&inputs[input], i, value);
        for (int64_t k = 0; k < tensor_elements(&after); k++)
            if (k != i && !same_element(&before, &after, k)) return true;
    }
    return false;
}

static bool share_memory(const Program *p, uint32_t a, uint32_t b, const int64_t *n) {
    const Buffer *x = &p->buffers.data[a], *y = &p->buffers.data[b];
    uint32_t bucket = program_bucket(p, n);
    return x->kind == BUFFER_arena && y->kind == BUFFER_arena &&
           x->offset[bucket] == y->offset[bucket];
}

// A kernel that writes over its operand reads each element where it writes it.
static bool check_in_place(Models *m, const Program *p, int64_t n) {
    for (size_t l = 0; l < p->launches.count; l++) {
        const Launch *launch = &p->launches.data[l];
        const Graph *region = p->kernels.data[launch->kernel].region;
        uint32_t inputs = (uint32_t)region->inputs.count;
        for (uint32_t in = 0; in < inputs; in++)
            for (uint32_t out = inputs; out < launch->buffer_count; out++) {
                if (!share_memory(p, launch->buffers[in], launch->buffers[out], &n)) continue;
                in_place++;
                if (!CHECK(!moves(m, region, in, out - inputs, n))) return false;
            }
    }
    return true;
}

static bool check_model(uint64_t seed, const char *passes) {
    Models m = {.state = seed * 0x9e3779b97f4a7c15};
    bench_open(&m.b);
    make_model(&m);
    const Program *program = compile(&m, passes);
    bool good = program != NULL;
    for (int64_t n = 1; good && n <= MOST; n++) good = check_at(&m, program, n);
    good = good && check_in_place(&m, program, 4);
    if (!good) printf("    model %d\n", (int)seed);
    bench_close(&m.b);
    return good;
}

static void check_models(const char *passes, uint64_t count) {
    for (uint64_t seed = 1; seed <= count; seed++)
        if (!check_model(seed, passes)) return;
}

static void test_a_kernel_an_op(void) {
    check_models("inline,decompose,single,schedule,memory", 1000);
    CHECK(in_place > 100);
}

static void test_fused(void) { check_models("inline,decompose,fold,fuse,schedule,memory", 4000); }

int main(void) {
    RUN(test_a_kernel_an_op);
    RUN(test_fused);
    return test_done();
}
