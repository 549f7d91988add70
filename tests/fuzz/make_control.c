// Control ops: blocks of a few elementwise ops over what they are given.
#include "tests/fuzz/maker.h"

#include "ir/build.h"
#include "ir/infer.h"

enum { CARRIED = 2, END = 2 }; // END: a loop goes on below it

// A block's values: its inputs first.
typedef struct Block {
    Graph *graph;
    NodeId values[8];
    uint32_t count;
} Block;

// A dim that has the value of this one in this run: a number, or one of some value of the pool.
static const Dim *other_dim(Maker *m, const Dim *dim) {
    if (pick(m, 2) || m->count == 0) return dim_const(m->ctx, size_of(m, dim));
    const Type *type = type_of(m, m->pool[pick(m, m->count)]);
    for (uint32_t i = 0; i < type->rank; i++)
        if (size_of(m, type->dims[i]) == size_of(m, dim)) return type->dims[i];
    return dim;
}

// What a block takes need not have the type that it is given, if entry checks make them equal.
static const Type *loosen(Maker *m, const Type *type) {
    const Dim *dims[TYPE_MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++)
        dims[i] = pick(m, 4) ? type->dims[i] : other_dim(m, type->dims[i]);
    return type_tensor(m->ctx, type->dtype, type->rank, dims);
}

static Block open_block(Maker *m, const Type *const *types, uint32_t count) {
    Block b = {.graph = graph_new(m->ctx, m->arena, STR("")), .count = count};
    for (uint32_t i = 0; i < count; i++)
        b.values[i] = graph_add_input(b.graph, STR(""), types[i], NULL);
    return b;
}

static NodeId pick_in(Maker *m, const Block *b, const Type *type) {
    uint32_t from = pick(m, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        NodeId id = b->values[(from + i) % b->count];
        if (graph_type(b->graph, id) == type) return id;
    }
    return b->values[0];
}

// Ops that neither round nor grow.
static NodeId add_step(Maker *m, Block *b, const Type *type) {
    static const Op ops[] = {OP_max, OP_min};
    NodeId x = pick_in(m, b, type), y = pick_in(m, b, type), id = x;
    if (op_accepts(OP_max, type->dtype))
        id = build_binary(b->graph, ops[pick(m, 2)], x, y);
    else if (type->rank > 0)
        id = build_op(b->graph, OP_reverse, &x, 1,
                      (Attr[]){{.ints = ir_ints(m->ctx, (int64_t[]){0}, 1)}});
    if (b->count < 8) b->values[b->count++] = id;
    return id;
}

static Graph *make_block(Maker *m, const Type *const *given, uint32_t count, uint32_t outs) {
    const Type *types[CARRIED];
    for (uint32_t i = 0; i < count; i++) types[i] = loosen(m, given[i]);
    Block b = open_block(m, types, count);
    for (uint32_t i = pick(m, 3); i > 0; i--) add_step(m, &b, types[pick(m, count)]);
    for (uint32_t i = 0; i < outs; i++)
        graph_add_output(b.graph, STR(""), add_step(m, &b, types[i % count]));
    return b.graph;
}

// Whether the element-wise largest of the second carried value is below a limit.
static Graph *make_condition(Maker *m, const Type *const *types) {
    Block b = open_block(m, types, CARRIED);
    NodeId limit = build_scalar_int(b.graph, DT_i64, END);
    graph_add_output(b.graph, STR(""), build_binary(b.graph, OP_lt, b.values[1], limit));
    return b.graph;
}

// A block over (any value, a counter) that counts.
static Graph *make_counting(Maker *m, const Type *const *given) {
    const Type *types[] = {loosen(m, given[0]), given[1]};
    Block b = open_block(m, types, CARRIED);
    graph_add_output(b.graph, STR(""), add_step(m, &b, types[0]));
    NodeId one = build_scalar_int(b.graph, DT_i64, 1);
    graph_add_output(b.graph, STR(""), build_binary(b.graph, OP_add, b.values[1], one));
    return b.graph;
}

static void make_cond(Maker *m, Value x, Value y) {
    Value args[] = {new_input(m, type_scalar(m->ctx, DT_bool), 0), x, y}, out;
    const Type *types[] = {type_of(m, x), type_of(m, y)};
    const Graph *blocks[] = {make_block(m, types, 2, 2), make_block(m, types, 2, 2)};
    double most = x.most > y.most ? x.most : y.most;
    if (put_regions(m, OP_cond, args, 3, NULL, blocks, 2, most, &out)) keep(m, out);
}

static void make_loop(Maker *m, Value x) {
    uint32_t start = pick(m, 4), steps = start < END ? END - start : 1;
    Value args[] = {x, fill(m, type_scalar(m->ctx, DT_i64), start)}, out;
    const Type *types[] = {type_of(m, x), type_of(m, args[1])};
    const Graph *blocks[] = {make_condition(m, types), make_counting(m, types)};
    Attr attrs[] = {{.i = pick(m, 2) ? steps : 4}}; // as many as it takes, or more
    double most = x.most > 4 ? x.most : 4;
    if (put_regions(m, OP_loop, args, CARRIED, attrs, blocks, 2, most, &out)) keep(m, out);
}

// Over the first axis, where it is a short constant one.
static void make_scan(Maker *m, Value x) {
    const Type *type = type_of(m, x);
    int64_t steps;
    if (type->rank == 0 || !dim_is_const(type->dims[0], &steps) || steps > 8) return;
    const Type *row = type_tensor(m->ctx, type->dtype, type->rank - 1, type->dims + 1);
    const Type *types[] = {row, row};
    Value args[] = {new_input(m, row, 0), x}, out;
    const Graph *blocks[] = {make_block(m, types, 2, 2)};
    Attr attrs[] = {{.i = 1}, {.i = pick(m, 2)}};
    double most = x.most > args[0].most ? x.most : args[0].most;
    if (put_regions(m, OP_scan, args, 2, attrs, blocks, 1, most, &out)) keep(m, out);
}

// A block that calls the block; its results stand in the other order.
static const Graph *make_outer(Maker *m, const Type *const *types, const Graph *inner,
                               const Attr *attrs) {
    Block b = open_block(m, types, 2);
    NodeId call = graph_build(b.graph, NULL, NULL, OP_call, b.values, 2, attrs, &inner, 1);
    if (inner->outputs.count == 1) graph_add_output(b.graph, STR(""), call);
    for (int64_t i = (int64_t)inner->outputs.count; inner->outputs.count > 1 && i-- > 0;)
        graph_add_output(b.graph, STR(""),
                         build_op(b.graph, OP_item, &call, 1, (Attr[]){{.i = i}}));
    return b.graph;
}

static void make_call(Maker *m, Value x, Value y) {
    Value args[] = {x, y}, out;
    const Type *types[] = {type_of(m, x), type_of(m, y)};
    const Graph *blocks[] = {make_block(m, types, 2, 1 + pick(m, 2))};
    Attr attrs[] = {{.str = ir_string(m->ctx, STR("block"))}, {.str = ir_string(m->ctx, STR(""))}};
    if (pick(m, 2)) blocks[0] = make_outer(m, types, blocks[0], attrs);
    double most = x.most > y.most ? x.most : y.most;
    if (put_regions(m, OP_call, args, 2, attrs, blocks, 1, most, &out)) keep(m, out);
}

void make_control(Maker *m, Op op) {
    Value x = pick_for(m, OP_select), y = pick_for(m, OP_select);
    if (op == OP_cond) make_cond(m, x, y);
    if (op == OP_loop) make_loop(m, x);
    if (op == OP_scan) make_scan(m, x);
    if (op == OP_call) make_call(m, x, y);
}
