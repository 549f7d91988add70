/* Window kernels: each element of a sliding window's result by itself, over the taps in row-major
 * order. Few taps are laid out one after the other; many are loops. */
#include "codegen/skeleton/pointwise.h"

enum { UNROLLED_TAPS = 16 };

typedef struct Taps {
    ValueEmitter *e;
    const Node *node;
    const Type *operand;
    const Domain *out;
    const IntList *window, *strides, *dilations, *lo;
    bool unroll;
    const Dim *index[TYPE_MAX_RANK]; /* in the operand */
    TileId acc;
} Taps;

static NodeId find_window(const Graph *g) {
    for (NodeId id = 0; id < g->nodes.count; id++)
        if (op_info(graph_node(g, id)->op)->class == CLASS_WINDOW) return id;
    return NODE_none;
}

static void add_element(Taps *t, size_t mark) {
    ValueEmitter *e = t->e;
    Op op = op_info(t->node->op)->scalar;
    TileId value = emit_value(e, t->node->args[0], t->index);
    if (value == TILE_none) return;
    TileId inside = emit_test(e, mark);
    if (inside != TILE_none) {
        TileId neutral = emit_identity(e, t->node->type->dtype, op);
        value = tile_map(&e->b, OP_select, (TileId[]){inside, value, neutral}, 3);
    }
    t->acc = tile_map(&e->b, op, (TileId[]){t->acc, value}, 2);
}

static void add_axis(Taps *t, uint32_t axis, size_t mark);

static void add_tap(Taps *t, uint32_t axis, size_t mark, const Dim *tap) {
    ValueEmitter *e = t->e;
    size_t here = emit_guard_mark(e);
    const Dim *index = dim_scale(e->ctx, t->out->index[axis], t->strides->items[axis]);
    index = dim_add(e->ctx, index, dim_scale(e->ctx, tap, t->dilations->items[axis]));
    t->index[axis] = dim_offset(e->ctx, index, -t->lo->items[axis]);
    emit_push_guard(e, t->index[axis], dim_const(e->ctx, 0), t->operand->dims[axis]);
    add_axis(t, axis + 1, mark);
    emit_pop_guards(e, here);
}

static void add_axis(Taps *t, uint32_t axis, size_t mark) {
    ValueEmitter *e = t->e;
    if (e->error != NULL) return;
    if (axis == t->operand->rank) {
        add_element(t, mark);
    } else if (t->unroll) {
        for (int64_t tap = 0; tap < t->window->items[axis]; tap++)
            add_tap(t, axis, mark, dim_const(e->ctx, tap));
    } else if (t->window->items[axis] == 1) {
        add_tap(t, axis, mark, dim_const(e->ctx, 0));
    } else {
        EmitLoop loop = emit_begin_for(e, "t", dim_const(e->ctx, 0),
                                       dim_const(e->ctx, t->window->items[axis]), &t->acc, 1);
        t->acc = loop.loop->carried;
        add_tap(t, axis, mark, loop.variable);
        t->acc = emit_end_for(e, loop, &t->acc);
    }
}

static void emit_window(ValueEmitter *e, const Domain *domain, const SkeletonRequest *request) {
    NodeId id = find_window(request->region);
    const Node *node = graph_node(request->region, id);
    Taps t = {.e = e,
              .node = node,
              .operand = graph_type(request->region, node->args[0]),
              .out = domain,
              .window = node_attr(node, "window").ints,
              .strides = node_attr(node, "strides").ints,
              .dilations = node_attr(node, "dilations").ints,
              .lo = node_attr(node, "lo").ints};
    int64_t taps = 1;
    for (uint32_t i = 0; i < t.window->count && taps <= UNROLLED_TAPS; i++)
        taps *= t.window->items[i];
    t.unroll = taps <= UNROLLED_TAPS;
    t.acc = emit_identity(e, node->type->dtype, op_info(node->op)->scalar);
    add_axis(&t, 0, emit_guard_mark(e));
    if (e->error != NULL) return;
    Provision p = {.node = id, .value = emit_pin(e, id, t.acc)};
    for (uint32_t i = 0; i < domain->rank; i++) p.index[i] = domain->index[i];
    emit_provide(e, &p);
    for (uint32_t i = 0; i < request->region->outputs.count; i++)
        domain_store(e, domain, i, request->schedule.streaming == 2);
}

TileProgram *skeleton_build_window(const SkeletonRequest *request, const char **out_why) {
    NodeId id = find_window(request->region);
    if (id == NODE_none) {
        *out_why = "there is no window";
        return NULL;
    }
    return pointwise_build(request, graph_type(request->region, id), emit_window, out_why);
}
