// The cascade algebra: what each reduction of a row is, how many sweeps they take with and without
// what is derived, and that a wrong derivation does not pass its validation.
#include "ir/build.h"
#include "passes/fuse/cascade.h"
#include "tests/unit/test.h"

enum { ROWS = 5, LENGTH = 24 };

typedef struct Fixture {
    Arena *arena;
    IrContext *ctx;
    Graph *graph;
    Axes axes;
    const Dim *dims[2];
} Fixture;

static Fixture setup(void) {
    Fixture f = {.arena = arena_new(NULL)};
    f.ctx = ir_context_new(f.arena);
    f.graph = graph_new(f.ctx, f.arena, STR("row"));
    f.axes = (Axes){.ctx = f.ctx};
    f.dims[0] = dim_const(f.ctx, ROWS);
    f.dims[1] = dim_const(f.ctx, LENGTH);
    return f;
}

static void teardown(Fixture *f) {
    ir_context_free(f->ctx);
    arena_free(f->arena);
}

static NodeId input(Fixture *f) {
    return graph_add_input(f->graph, STR("x"), type_tensor(f->ctx, DT_f32, 2, f->dims), NULL);
}

static NodeId row_reduce(Fixture *f, Op op, NodeId x) {
    return build_reduce(f->graph, op, x, (int64_t[]){1}, 1);
}

static NodeId spread(Fixture *f, NodeId x) {
    return build_broadcast(f->graph, x, f->dims, 2, (int64_t[]){0});
}

static NodeId op2(Fixture *f, Op op, NodeId x, NodeId y) {
    return build_binary(f->graph, op, x, y);
}

static NodeId times(Fixture *f, NodeId x, double factor) {
    return op2(f, OP_mul, x, build_fill(f->graph, graph_type(f->graph, x), factor));
}

static Cascade *analyse(Fixture *f, NodeId output) {
    graph_add_output(f->graph, STR(""), output);
    return cascade_analyse(&f->axes, f->arena, f->graph);
}

// m = max x, e = exp(x - m), and the sum of e · extra.
static NodeId exponentials(Fixture *f, NodeId x, NodeId *out_max) {
    *out_max = row_reduce(f, OP_reduce_max, x);
    return build_unary(f->graph, OP_exp, op2(f, OP_sub, x, spread(f, *out_max)));
}

static void test_softmax_is_corrected(void) {
    Fixture f = setup();
    NodeId m, e = exponentials(&f, input(&f), &m);
    const Cascade *c = analyse(&f, row_reduce(&f, OP_reduce_sum, e));
    CHECK_INT(c->count, 2);
    CHECK_INT(c->sums[0].form, CASCADE_plain);
    CHECK_INT(c->sums[1].form, CASCADE_corrected);
    CHECK_INT(c->sums[1].reference, 0);
    CHECK_INT(c->sweeps, 2);
    CHECK_INT(c->derived_sweeps, 1);
    teardown(&f);
}

// Σ exp(x - m) / l · v: the weights' sum leaves the sum of values.
static void test_attention_is_one_sweep(void) {
    Fixture f = setup();
    NodeId m, e = exponentials(&f, input(&f), &m);
    NodeId p = op2(&f, OP_div, e, spread(&f, row_reduce(&f, OP_reduce_sum, e)));
    const Cascade *c = analyse(&f, row_reduce(&f, OP_reduce_sum, op2(&f, OP_mul, p, input(&f))));
    CHECK_INT(c->count, 3);
    CHECK_INT(c->sums[2].form, CASCADE_corrected);
    CHECK_INT(c->sums[2].factor_count, 3);
    CHECK_INT(c->sweeps, 3);
    CHECK_INT(c->derived_sweeps, 1);
    teardown(&f);
}

static void check_variance(double scale, CascadeForm form, uint32_t derived_sweeps) {
    Fixture f = setup();
    NodeId x = input(&f), mean = times(&f, row_reduce(&f, OP_reduce_sum, x), scale);
    NodeId d = op2(&f, OP_sub, x, spread(&f, mean));
    const Cascade *c = analyse(&f, row_reduce(&f, OP_reduce_sum, op2(&f, OP_mul, d, d)));
    CHECK_INT(c->sums[1].form, form);
    CHECK_INT(c->sweeps, 2);
    CHECK_INT(c->derived_sweeps, derived_sweeps);
    teardown(&f);
}

static void test_variance_is_centred(void) {
    check_variance(1.0 / LENGTH, CASCADE_centred, 1);
    check_variance(0.5, CASCADE_dependent, 2); // not the mean
}

static void test_factors_are_hoisted(void) {
    Fixture f = setup();
    NodeId x = input(&f), top = row_reduce(&f, OP_reduce_max, x);
    NodeId scaled = op2(&f, OP_mul, input(&f), spread(&f, build_unary(f.graph, OP_tanh, top)));
    const Cascade *c = analyse(&f, row_reduce(&f, OP_reduce_sum, scaled));
    CHECK_INT(c->sums[1].form, CASCADE_hoisted);
    CHECK_INT(c->derived_sweeps, 1);
    teardown(&f);
}

static void test_other_maxima_do_not_correct(void) {
    Fixture f = setup();
    NodeId x = input(&f), other = row_reduce(&f, OP_reduce_max, input(&f));
    NodeId e = build_unary(f.graph, OP_exp, op2(&f, OP_sub, x, spread(&f, other)));
    const Cascade *c = analyse(&f, row_reduce(&f, OP_reduce_sum, e));
    CHECK_INT(c->sums[1].form, CASCADE_dependent);
    CHECK_INT(c->derived_sweeps, 2);
    teardown(&f);
}

static void test_absolute_deviation_is_dependent(void) {
    Fixture f = setup();
    NodeId x = input(&f), mean = times(&f, row_reduce(&f, OP_reduce_sum, x), 1.0 / LENGTH);
    NodeId d = build_unary(f.graph, OP_abs, op2(&f, OP_sub, x, spread(&f, mean)));
    const Cascade *c = analyse(&f, row_reduce(&f, OP_reduce_sum, d));
    CHECK_INT(c->sums[1].form, CASCADE_dependent);
    CHECK_INT(c->derived_sweeps, 2);
    teardown(&f);
}

// Derivations that are wrong: a correction left out, one by another maximum, a centre forgotten.
static void test_validation_finds_faults(void) {
    Fixture f = setup();
    NodeId m, e = exponentials(&f, input(&f), &m);
    Cascade *c = analyse(&f, row_reduce(&f, OP_reduce_sum, e));
    CHECK(cascade_is_valid(c, f.arena));
    c->sums[1].form = CASCADE_plain;
    CHECK(!cascade_is_valid(c, f.arena));
    c->sums[1].form = CASCADE_corrected;
    c->sums[1].factors[0].form = CASCADE_hoisted;
    CHECK(!cascade_is_valid(c, f.arena));
    teardown(&f);
    f = setup();
    NodeId x = input(&f), mean = times(&f, row_reduce(&f, OP_reduce_sum, x), 1.0 / LENGTH);
    NodeId d = op2(&f, OP_sub, x, spread(&f, mean));
    c = analyse(&f, row_reduce(&f, OP_reduce_sum, op2(&f, OP_mul, d, d)));
    CHECK(cascade_is_valid(c, f.arena));
    c->sums[1].form = CASCADE_plain;
    CHECK(!cascade_is_valid(c, f.arena));
    teardown(&f);
}

int main(void) {
    RUN(test_softmax_is_corrected);
    RUN(test_attention_is_one_sweep);
    RUN(test_variance_is_centred);
    RUN(test_factors_are_hoisted);
    RUN(test_other_maxima_do_not_correct);
    RUN(test_absolute_deviation_is_dependent);
    RUN(test_validation_finds_faults);
    return test_done();
}
