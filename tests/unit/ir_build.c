// The builders: one node each, of the right type, with the constants' bytes in memory form.
#include "tests/unit/test.h"

#include "base/guard.h"
#include "ir/build.h"

static const char *type_text(Graph *g, NodeId id) {
    Buf buf = {.arena = g->arena};
    buf_type(&buf, graph_type(g, id));
    return buf.data;
}

static void check_bytes(const Graph *g, NodeId id, const void *bytes, size_t size) {
    const Node *node = graph_node(g, id);
    if (!CHECK(node->op == OP_const)) return;
    const Blob *blob = node_attr(node, "value").blob;
    CHECK_INT(blob->size, size);
    CHECK_MEM(blob->bytes, bytes, size);
}

static void check_numbers(Graph *g) {
    check_bytes(g, build_scalar(g, DT_f32, 1.5), &(float){1.5F}, 4);
    check_bytes(g, build_scalar(g, DT_bf16, 1.0), "\x80\x3f", 2);
    check_bytes(g, build_scalar(g, DT_i8, 300.0), "\x7f", 1);
    check_bytes(g, build_scalar_int(g, DT_i64, INT64_MIN), &(int64_t){INT64_MIN}, 8);
    check_bytes(g, build_scalar_int(g, DT_u8, -1), "\xff", 1);
    check_bytes(g, build_scalar(g, DT_bool, 2.0), "\x01", 1);
    CHECK(build_scalar(g, DT_f32, 2) == build_scalar(g, DT_f32, 2));
    CHECK(build_scalar(g, DT_f32, 0.0) != build_scalar(g, DT_f32, -0.0));
}

static void check_ops(Graph *g) {
    IrContext *ctx = g->ctx;
    const Dim *n = dim_of_symbol(ctx, dim_new_symbol(ctx, SYMBOL_named, STR("N"), 1, 64, 8, NULL));
    const Dim *dims[] = {n, dim_const(ctx, 6)}, *flat[] = {dim_scale(ctx, n, 6)};
    const Dim *one = dim_const(ctx, 1), *zero = dim_const(ctx, 0);
    const Type *type = type_tensor(ctx, DT_f32, 2, dims);
    NodeId x = graph_add_input(g, STR("x"), type, NULL);
    CHECK_STR(type_text(g, build_unary(g, OP_exp, x)), "f32[N, 6]");
    CHECK_STR(type_text(g, build_binary(g, OP_lt, x, build_fill(g, type, 0))), "bool[N, 6]");
    CHECK_STR(type_text(g, build_select(g, build_binary(g, OP_lt, x, x), x, x)), "f32[N, 6]");
    CHECK_STR(type_text(g, build_cast(g, x, DT_f16)), "f16[N, 6]");
    CHECK_STR(type_text(g, build_reduce(g, OP_reduce_max, x, (int64_t[]){1}, 1)), "f32[N]");
    CHECK_STR(type_text(g, build_reshape(g, x, flat, 1)), "f32[6*N]");
    CHECK_STR(type_text(g, build_permute(g, x, (int64_t[]){1, 0})), "f32[6, N]");
    CHECK_STR(type_text(g, build_broadcast(g, build_reduce(g, OP_reduce_sum, x, (int64_t[]){1}, 1),
                                           dims, 2, (int64_t[]){0})),
              "f32[N, 6]");
    CHECK_STR(type_text(g, build_slice(g, x, (const Dim *[]){zero, one}, dims, (int64_t[]){1, 2})),
              "f32[N, 3]");
    CHECK_STR(type_text(g, build_pad(g, x, build_scalar(g, DT_f32, 0), (const Dim *[]){one, zero},
                                     (const Dim *[]){one, zero})),
              "f32[N + 2, 6]");
    NodeId sorted = build_op(g, OP_sort, &x, 1, (Attr[]){{.i = 1}, {.i = 0}});
    CHECK_STR(type_text(g, build_item(g, sorted, 1)), "i64[N, 6]");
    CHECK_STR(type_text(g, build_iota(g, type, 1)), "f32[N, 6]");
}

static void test_builders(void) {
    Arena *arena = arena_new(NULL);
    Graph *g = graph_new(ir_context_new(arena), arena, STR("g"));
    check_numbers(g);
    check_ops(g);
    ir_context_free(g->ctx);
    arena_free(arena);
}

// A wrong application is our own bug and leaves through the guard, with the types in its message.
static void test_wrong_application(void) {
    Arena *arena = arena_new(NULL);
    Graph *g = graph_new(ir_context_new(arena), arena, STR("g"));
    NodeId a = build_scalar(g, DT_f32, 1), b = build_scalar(g, DT_i64, 1);
    Guard guard;
    guard_enter(&guard);
    if (setjmp(guard.jump) == 0) build_binary(g, OP_add, a, b);
    guard_leave(&guard);
    CHECK_INT(guard.kind, GUARD_bug);
    CHECK(strstr(guard.message, "add cannot be applied to (f32[], i64[])") != NULL);
    arena_free(arena);
}

int main(void) {
    RUN(test_builders);
    RUN(test_wrong_application);
    return test_done();
}
