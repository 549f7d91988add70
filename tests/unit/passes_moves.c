// Whatever fold makes of two movements in a row gives what the two gave, for permutations,
// reversals, slices, pads, reshapes, broadcasts and concatenations with many attributes each.
// Elements are numbered, so none can take another's place unseen.
#include "passes/fold/fold.h"
#include "tests/unit/passes_support.h"

typedef struct Moves {
    Bench b;
    Graph *g;
    Fold f;
    NodeId x;
} Moves;

static const Dim *number(Moves *s, int64_t value) { return dim_const(s->b.ir, value); }

static int64_t extent(const Moves *s, NodeId x, uint32_t axis) {
    int64_t value = 0;
    dim_is_const(graph_type(s->g, x)->dims[axis], &value);
    return value;
}

static uint32_t rank_of(const Moves *s, NodeId x) { return graph_type(s->g, x)->rank; }

// The `which`-th permutation, by the factorial base.
static NodeId permuted(Moves *s, NodeId x, uint32_t which) {
    int64_t perm[TYPE_MAX_RANK];
    uint32_t rank = rank_of(s, x);
    for (uint32_t i = 0; i < rank; i++) perm[i] = i;
    for (uint32_t i = rank; i > 1; which /= i--) {
        int64_t t = perm[i - 1];
        perm[i - 1] = perm[which % i];
        perm[which % i] = t;
    }
    return build_permute(s->g, x, perm);
}

// Along the axes that are bits of `which`.
static NodeId reversed(Moves *s, NodeId x, uint32_t which) {
    int64_t axes[TYPE_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank_of(s, x); i++)
        if (which >> i & 1) axes[count++] = i;
    Attr attrs[] = {{.ints = ir_ints(s->b.ir, axes, count)}};
    return build_op(s->g, OP_reverse, &x, 1, attrs);
}

// Start, step and end of each axis are digits of `which`.
static NodeId sliced(Moves *s, NodeId x, uint32_t which) {
    const Dim *start[TYPE_MAX_RANK], *limit[TYPE_MAX_RANK];
    int64_t step[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < rank_of(s, x); i++, which = which / 3 + 5) {
        int64_t size = extent(s, x, i), from = which % 3 < size ? which % 3 : 0;
        start[i] = number(s, from);
        limit[i] = number(s, size - (which % 4 == 1 && from + 1 < size));
        step[i] = 1 + which % 2 + which % 5 / 4;
    }
    return build_slice(s->g, x, start, limit, step);
}

static NodeId padded(Moves *s, NodeId x, uint32_t which) {
    const Dim *lo[TYPE_MAX_RANK], *hi[TYPE_MAX_RANK];
    NodeId value = build_scalar(s->g, DT_f32, which % 2 ? -1 : -2);
    for (uint32_t i = 0; i < rank_of(s, x); i++, which = which / 2 + 3) {
        lo[i] = number(s, which % 3);
        hi[i] = number(s, which % 2);
    }
    return build_pad(s->g, x, value, lo, hi);
}

// Flat, with an axis of 1, or with the first two axes merged.
static NodeId reshaped(Moves *s, NodeId x, uint32_t which) {
    const Dim *dims[TYPE_MAX_RANK + 1];
    uint32_t rank = rank_of(s, x), count = 0;
    int64_t elements = 1;
    for (uint32_t i = 0; i < rank; i++) elements *= extent(s, x, i);
    if (which == 0) return build_reshape(s->g, x, (const Dim *[]){number(s, elements)}, 1);
    for (uint32_t i = 0; i < rank; i++) dims[count++] = number(s, extent(s, x, i));
    if (which == 1) dims[count++] = number(s, 1);
    if (which == 2 && rank > 1) {
        dims[1] = number(s, extent(s, x, 0) * extent(s, x, 1));
        return build_reshape(s->g, x, dims + 1, rank - 1);
    }
    return build_reshape(s->g, x, dims, count);
}

// A new axis before axis `which`.
static NodeId repeated(Moves *s, NodeId x, uint32_t which) {
    const Dim *dims[TYPE_MAX_RANK + 1];
    int64_t axes[TYPE_MAX_RANK];
    uint32_t rank = rank_of(s, x), at = which % (rank + 1);
    for (uint32_t i = 0, k = 0; i <= rank; i++) {
        dims[i] = i == at ? number(s, 2) : number(s, extent(s, x, k));
        if (i != at) axes[k++] = i;
    }
    return build_broadcast(s->g, x, dims, rank + 1, axes);
}

static NodeId joined(Moves *s, NodeId x, uint32_t which) {
    NodeId parts[] = {x, which % 2 ? reversed(s, x, 1) : x, x};
    Attr attrs[] = {{.i = which % rank_of(s, x)}};
    return build_op(s->g, OP_concat, parts, 2 + which % 2, attrs);
}

static const struct {
    NodeId (*build)(Moves *s, NodeId x, uint32_t which);
    uint32_t count;
} rows[] = {{permuted, 6}, {reversed, 8}, {sliced, 16}, {padded, 8},
            {reshaped, 3}, {repeated, 4}, {joined, 4}};
enum { ROWS = sizeof rows / sizeof *rows };

static void expect(Moves *s, NodeId before) {
    NodeId after = fold_simplify(&s->f, before);
    if (!CHECK(graph_type(s->g, after) == graph_type(s->g, before)) || after == before) return;
    graph_add_output(s->g, STR("before"), before);
    graph_add_output(s->g, STR("after"), after);
}

static void expect_after(Moves *s, NodeId inner) {
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t k = 0; k < rows[r].count; k++) expect(s, rows[r].build(s, inner, k));
}

static void compare(Moves *s) {
    uint64_t seed = 1;
    Tensor x = test_tensor(s->b.arena, graph_type(s->g, s->x), NULL, &seed);
    for (int64_t i = 0; i < tensor_elements(&x); i++) tensor_set(&x, i, (double)i);
    const Tensor *results = test_eval(s->b.arena, s->g, &x, NULL);
    for (size_t i = 0; i < s->g->outputs.count; i += 2) {
        if (CHECK_INT(first_difference(&results[i], &results[i + 1], 0), -1)) continue;
        const Node *outer = graph_node(s->g, s->g->outputs.data[i].node);
        printf("    fold of %s of %s\n", op_info(outer->op)->name,
               op_info(graph_node(s->g, outer->args[0])->op)->name);
    }
}

static void check_pairs(const int64_t *dims, uint32_t rank) {
    for (uint32_t r = 0; r < ROWS; r++) {
        Moves s = {.g = NULL};
        bench_open(&s.b);
        s.g = bench_graph(&s.b);
        s.f = (Fold){.ctx = &s.b.ctx, .g = s.g, .top = true};
        s.x = graph_add_input(s.g, STR("x"), bench_type(&s.b, DT_f32, rank, dims), NULL);
        for (uint32_t k = 0; k < rows[r].count; k++) expect_after(&s, rows[r].build(&s, s.x, k));
        compare(&s);
        bench_close(&s.b);
    }
}

static void test_pairs(void) {
    check_pairs((int64_t[]){7, 5, 3}, 3);
    check_pairs((int64_t[]){1, 4, 1}, 3);
    check_pairs((int64_t[]){11}, 1);
}

int main(void) {
    RUN(test_pairs);
    return test_done();
}
