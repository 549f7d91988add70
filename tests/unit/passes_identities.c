// Whatever fold makes of an op with a special number as its constant, of an op of an operand twice,
// of two unary ops, of a comparison's negation or of two casts in a row: it gives what the ops
// gave, to the last bit, for every special value of every dtype. No rule is named here: a wrong one
// is found by its answer, and one that is missing is none of this test's business.
#include "passes/fold/fold.h"
#include "tests/unit/passes_support.h"

enum { MAX_VALUES = 32 };

typedef struct Identities {
    Bench b;
    Graph *g;
    Fold f;
    DType dtype;
    uint32_t n;
    double floats[MAX_VALUES];
    int64_t ints[MAX_VALUES];
    NodeId x;
} Identities;

// The ends of the range with what stands beside them, small numbers, and one that no double holds.
static uint32_t int_specials(DType dtype, int64_t *out) {
    uint32_t bits = dtype == DT_bool ? 1 : dtype_info(dtype)->bits;
    int64_t least = (int64_t)(UINT64_MAX << (bits - 1));
    const int64_t numbers[] = {0,
                               1,
                               2,
                               3,
                               5,
                               7,
                               8,
                               -1,
                               -2,
                               -3,
                               -8,
                               least,
                               ~least,
                               least + 1,
                               -least,
                               ~least - 1,
                               least / 2,
                               ~least - 100,
                               least + 100,
                               (1ll << 53) + 1,
                               (3ll << 40) + 1};
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        out[i] = dtype == DT_bool ? numbers[i] & 1 : numbers[i];
    return sizeof numbers / sizeof *numbers;
}

static void open_dtype(Identities *s, DType dtype) {
    *s = (Identities){.dtype = dtype};
    bench_open(&s->b);
    s->g = bench_graph(&s->b);
    s->f = (Fold){.ctx = &s->b.ctx, .g = s->g, .top = true};
    s->n = dtype_is_float(dtype) ? test_specials(dtype, s->floats) : int_specials(dtype, s->ints);
    s->x = graph_add_input(s->g, STR("x"), TYPE(&s->b, dtype, s->n), NULL);
}

static NodeId constant(Identities *s, uint32_t i) {
    const Type *type = graph_type(s->g, s->x);
    if (dtype_is_float(s->dtype)) return build_fill(s->g, type, s->floats[i]);
    NodeId number = build_scalar_int(s->g, s->dtype, s->ints[i]);
    return build_broadcast(s->g, number, type->dims, type->rank, NULL);
}

// What fold makes of the node is compared with it, once all are there.
static void expect(Identities *s, NodeId before) {
    NodeId after = fold_simplify(&s->f, before);
    if (!CHECK(graph_type(s->g, after) == graph_type(s->g, before)) || after == before) return;
    graph_add_output(s->g, STR("before"), before);
    graph_add_output(s->g, STR("after"), after);
}

static void describe(const Identities *s, NodeId id) {
    const Node *node = graph_node(s->g, id);
    printf("%s", op_info(node->op)->name);
    for (uint32_t i = 0; i < node->arg_count; i++)
        printf(" %s:%s", op_info(graph_node(s->g, node->args[i])->op)->name,
               dtype_name(graph_type(s->g, node->args[i])->dtype));
}

static void compare(Identities *s) {
    Tensor x = {.dtype = s->dtype, .rank = 1, .dims = {s->n}};
    x.data = arena_alloc(s->b.arena, tensor_bytes(&x));
    for (uint32_t i = 0; i < s->n; i++) {
        if (dtype_is_float(s->dtype))
            tensor_set(&x, i, s->floats[i]);
        else
            tensor_set_int(&x, i, s->ints[i]);
    }
    const Tensor *results = test_eval(s->b.arena, s->g, &x, NULL);
    for (size_t i = 0; i < s->g->outputs.count; i += 2) {
        int64_t at = first_difference(&results[i], &results[i + 1], 0);
        if (CHECK_INT(at, -1)) continue;
        printf("    fold of ");
        describe(s, s->g->outputs.data[i].node);
        printf(": element %lld is %.17g, before %.17g\n", (long long)at,
               tensor_get(&results[i + 1], at), tensor_get(&results[i], at));
    }
    bench_close(&s->b);
}

static bool is_class(Op op, OpClass class) { return op_info(op)->class == class; }

static void expect_with_constants(Identities *s, Op op) {
    for (uint32_t i = 0; i < s->n; i++) {
        expect(s, build_binary(s->g, op, s->x, constant(s, i)));
        expect(s, build_binary(s->g, op, constant(s, i), s->x));
    }
    expect(s, build_binary(s->g, op, s->x, s->x));
}

static void test_constants(void) {
    for (DType dtype = 0; dtype < DT_count; dtype++) {
        Identities s;
        open_dtype(&s, dtype);
        for (Op op = OP_none + 1; op < OP_count; op++) {
            bool binary = is_class(op, CLASS_BINARY) || is_class(op, CLASS_COMPARE);
            if (binary && op_accepts(op, dtype)) expect_with_constants(&s, op);
        }
        compare(&s);
    }
}

// Two constants, one after the other.
static void test_two_constants(void) {
    for (DType dtype = 0; dtype < DT_count; dtype++) {
        Identities s;
        open_dtype(&s, dtype);
        for (Op op = OP_none + 1; op < OP_count; op++) {
            if (!is_class(op, CLASS_BINARY) || !op_accepts(op, dtype)) continue;
            for (uint32_t i = 0; i + 1 < s.n; i++) {
                NodeId once = build_binary(s.g, op, s.x, constant(&s, i));
                expect(&s, build_binary(s.g, op, once, constant(&s, i + 1)));
                expect(&s, build_binary(s.g, op, once, constant(&s, s.n - 1 - i)));
            }
        }
        compare(&s);
    }
}

static void expect_after(Identities *s, NodeId inner, OpClass inner_class) {
    DType dtype = graph_type(s->g, inner)->dtype;
    for (Op op = OP_none + 1; op < OP_count; op++) {
        bool once = op_info(op)->ulp > 0 && inner_class == CLASS_UNARY;
        if (!is_class(op, CLASS_UNARY) || !op_accepts(op, dtype) || once) continue;
        expect(s, build_unary(s->g, op, inner));
    }
}

static void test_unary_pairs(void) {
    for (DType dtype = 0; dtype < DT_count; dtype++) {
        Identities s;
        open_dtype(&s, dtype);
        for (Op op = OP_none + 1; op < OP_count; op++) {
            if (!op_accepts(op, dtype)) continue;
            if (is_class(op, CLASS_UNARY)) expect_after(&s, build_unary(s.g, op, s.x), CLASS_UNARY);
            for (uint32_t i = 0; is_class(op, CLASS_COMPARE) && i < s.n; i++)
                expect_after(&s, build_binary(s.g, op, s.x, constant(&s, i)), CLASS_COMPARE);
        }
        compare(&s);
    }
}

static void test_cast_pairs(void) {
    for (DType dtype = 0; dtype < DT_count; dtype++) {
        Identities s;
        open_dtype(&s, dtype);
        for (DType b = 0; b < DT_count; b++)
            for (DType c = 0; c < DT_count; c++)
                expect(&s, build_cast(s.g, build_cast(s.g, s.x, b), c));
        compare(&s);
    }
}

int main(void) {
    RUN(test_constants);
    RUN(test_two_constants);
    RUN(test_unary_pairs);
    RUN(test_cast_pairs);
    return test_done();
}
